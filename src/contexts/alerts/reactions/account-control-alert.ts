import { v5 } from 'uuid';
import { raiseAlert } from '../../../../commands/alerts/raise-alert.ts';
import type { RecordedEvent } from '../../../platform/kernel/event.ts';
import { effect, type Effect } from '../../../platform/kernel/reaction.ts';
import { at } from '../../../platform/kernel/read-model.ts';

/**
 * UUIDv5 namespace (RFC 9562 §5.5). The id derives from the event, so raising the alert twice has no further effect.
 */
const ALERTS = 'c2b0a7f4-5d5e-4a5c-9f0e-6a5b0c2f4d11';

interface Change {
  /** Machine-readable name of the change. */
  readonly change: string;
  readonly title: string;
  readonly isSevere: boolean;
  /** The account or configuration that changed. */
  readonly about: Readonly<Record<string, string>>;
  /** What it decides, in a sentence. */
  readonly decides?: string;
  /** The default is one of its own for every event. */
  readonly fingerprint?: string;
}

const SIGN_IN = 'This decides who can sign in.';
const WAY_OUT = 'This decides where data of your organization is sent.';
const WATCH = 'This decides who hears of an attack on your organization.';

/** One alert per change: two changes within a day each need an explanation. */
export function accountControlAlert(
  event: RecordedEvent,
  { change, title, isSevere, about, decides = SIGN_IN, fingerprint }: Change,
): { effects: readonly Effect[] }[] {
  const { actor } = event.metadata;
  const raise = effect(raiseAlert, {
    alertId: v5(`${event.tenantId}|${event.id}`, ALERTS),
    alertType: 'policy_violation',
    severity: isSevere ? 'high' : null,
    title,
    description: `${decides} If nobody in your team did it on purpose, end the sessions of the account that made the change, reset its password, and undo the change. The audit log names the address it came from.`,
    fingerprint: fingerprint ?? `policy_violation|||account_control|${event.id}`,
    userId: null,
    deviceId: null,
    domain: null,
    url: null,
    cause: event.id,
    metadata: {
      kind: 'account_control_changed',
      change,
      ...about,
      actorKind: actor.kind,
      actorId: actor.id,
      observedAt: at(event),
      observationIds: [],
    },
  });
  return [{ effects: [raise] }];
}

export const aboutAdmin = (event: RecordedEvent, change: string, title: string, isSevere = true) =>
  accountControlAlert(event, {
    change,
    title,
    isSevere,
    about: { adminId: (event.data as { adminId: string }).adminId },
  });
export const aboutProvider = (event: RecordedEvent, change: string, title: string) =>
  accountControlAlert(event, {
    change,
    title,
    isSevere: true,
    about: { configId: (event.data as { configId: string }).configId },
  });
export const aboutAuthority = (event: RecordedEvent, change: string, title: string) =>
  accountControlAlert(event, {
    change,
    title,
    isSevere: true,
    about: { fingerprintSha256: (event.data as { fingerprintSha256: string }).fingerprintSha256 },
  });

export const aboutWayOut = (
  event: RecordedEvent,
  change: string,
  title: string,
  about: Readonly<Record<string, string>> = {},
) => accountControlAlert(event, { change, title, isSevere: true, about, decides: WAY_OUT });

export const aboutWatch = (
  event: RecordedEvent,
  change: string,
  title: string,
  about: Readonly<Record<string, string>> = {},
) => accountControlAlert(event, { change, title, isSevere: true, about, decides: WATCH });

export const aboutDestination = ({ data }: RecordedEvent) => ({
  destinationId: (data as { destinationId: string }).destinationId,
});

export const aboutClient = (event: RecordedEvent, change: string, title: string) =>
  accountControlAlert(event, {
    change,
    title,
    isSevere: true,
    about: { clientId: (event.data as { clientId: string }).clientId },
  });

export const aboutOrganization = (
  event: RecordedEvent,
  { organizationId, name }: { readonly organizationId: string; readonly name: string },
) =>
  accountControlAlert(event, {
    change: 'organization_attached',
    title: `The organization “${name}” may now set up how administrators sign in`,
    isSevere: true,
    about: { organizationId },
  });

/** `learning` is the lowest mode, so it is never a change for the better. */
export const aboutProtection = (event: RecordedEvent, extensionMode: string | undefined) =>
  extensionMode === 'learning'
    ? accountControlAlert(event, {
        change: 'extension_mode_lowered',
        title: 'Browsers no longer warn of pages or block them',
        isSevere: true,
        about: {},
        decides: 'This decides whether browsers protect your people.',
      })
    : [];
