import { isDeepStrictEqual } from 'node:util';
import { refuseUnlessReauthenticated } from '../../src/platform/kernel/fresh-proof.ts';
import { refuseUnlessOwnerOfPrivate } from '../../src/contexts/admins/domain/private-destinations.ts';
import {
  leadsElsewhere,
  narrows,
  notificationSettings,
  notificationSettingsStream,
  silencesWatch,
  SMTP_ADDRESS,
  smtpPasswordLocation,
  type NotificationSettings,
  type NotificationValues,
} from '../../src/contexts/notifications/domain/settings.ts';
import { storedWebhookAddress, webhookAddressOf } from '../../src/contexts/notifications/domain/webhook-address.ts';
import type { Actor } from '../../src/platform/kernel/actor.ts';
import { accept, defineCommand, replacedSecret } from '../../src/platform/kernel/command.ts';
import {
  invalid,
  refuseTogether,
  secretNeededAgain,
  temporarilyUnavailable,
  type Failure,
} from '../../src/platform/kernel/failure.ts';
import type { DestinationChoice, Destinations } from '../../src/platform/outbound/destinations.ts';
import type { WithAggregates, WithDestinations, WithVault } from '../ports.ts';

export interface ChangeNotificationSettings {
  /** Fields that are left out keep their values. */
  readonly changes: { readonly [Name in keyof NotificationValues]?: NotificationValues[Name] | undefined };
  /** Null removes the stored password. */
  readonly smtpPassword?: string | null | undefined;
  readonly reauthenticated?: boolean;
  readonly isSuperAdmin?: boolean;
}

const changedValues = (
  before: NotificationValues,
  { changes }: ChangeNotificationSettings,
): Partial<NotificationValues> =>
  Object.fromEntries(
    Object.entries(changes).filter(
      ([name, value]) => value !== undefined && !isDeepStrictEqual(before[name as keyof NotificationValues], value),
    ),
  );

interface Facts {
  readonly passwordRef: string | null | undefined;
  /** Undefined: the address was read from no vault. */
  readonly webhook?: {
    /** The reference of the settings that the other members belong to. */
    readonly of: string | null;
    readonly address: string | null;
    /** For the event, if the address changes. */
    readonly stored: { readonly webhookUrl: string | null; readonly webhookUrlRef: string | null } | undefined;
  };
}

/** Changes settings of alert notifications (choice OP-181), all or none. */
export const changeNotificationSettings = defineCommand({
  name: 'ChangeNotificationSettings',
  aggregate: notificationSettings,
  stream: (_input: ChangeNotificationSettings, { tenantId }) => notificationSettingsStream(tenantId),
  async prepare(
    input: ChangeNotificationSettings,
    { aggregates, destinations, vault }: WithAggregates & WithDestinations & WithVault,
    { tenantId },
  ): Promise<Facts | Failure> {
    const state = await aggregates.load(notificationSettings, notificationSettingsStream(tenantId));
    const address = await webhookAddressOf(state, vault, tenantId);
    const values = { ...state.values, webhookUrl: address };
    const changed = changedValues(values, input);
    const { smtpPassword } = input;
    const wanted = { ...values, ...changed };
    const refused = refuseTogether(
      refuseMissingAddress(wanted),
      // A new password has no reference yet.
      refuseMovedPassword(state, wanted, smtpPassword === undefined ? state.smtpPasswordRef : null),
      ...(await unreachableAddresses(destinations, wanted, changed)),
    );
    if (refused) return refused;
    const { webhookUrl } = changed;
    return {
      passwordRef:
        typeof smtpPassword === 'string' ? await vault.put(tenantId, smtpPasswordLocation, smtpPassword) : smtpPassword,
      webhook: {
        of: state.webhookUrlRef,
        address,
        stored: webhookUrl === undefined ? undefined : await storedWebhookAddress(webhookUrl, vault, tenantId),
      },
    };
  },
  decide(state, input, { actor }, { passwordRef, webhook }) {
    // Another change came between: the address of `prepare` is not that of this state.
    if (webhook && webhook.of !== state.webhookUrlRef) return temporarilyUnavailable('too_many_changes');
    const before = webhook ? { ...state.values, webhookUrl: webhook.address } : state.values;
    const changed = changedValues(before, input);
    const values = { ...before, ...changed };
    const smtpPasswordRef = passwordRef === undefined ? state.smtpPasswordRef : passwordRef;
    const isNew = smtpPasswordRef !== state.smtpPasswordRef;
    const isSilenced = silencesWatch(state, { ...state, values });
    const isNarrowed = narrows(before, values);
    const refused =
      refuseTogether(refuseMissingAddress(values), refuseMovedPassword(state, values, smtpPasswordRef)) ??
      refuseForeignPrivate(before, values, input.isSuperAdmin) ??
      refuseUnproved(isNew || isSilenced || leadsElsewhere(before, values), actor, input);
    if (refused) return refused;
    if (Object.keys(changed).length === 0 && !isNew) return accept([]);
    const address = addressFields(state, changed, webhook?.stored);
    const data = {
      ...changed,
      ...address.data,
      ...given({ smtpPasswordRef }, isNew),
      ...given({ isSilenced }, isSilenced),
      ...given({ isNarrowed }, isNarrowed),
    };
    return accept([{ type: 'AlertNotificationSettingsChanged', data }], {
      forget: [...replacedSecret(state.smtpPasswordRef, smtpPasswordRef), ...address.forget],
    });
  },
  freshens: ['alert_notification_settings'],
});

const refuseMissingAddress = ({ webhookEnabled, webhookUrl }: NotificationValues): Failure | undefined =>
  webhookEnabled && webhookUrl === null ? invalid('webhookUrl', 'is required where webhookEnabled is true') : undefined;

const refuseUnproved = (
  needsProof: boolean,
  actor: Actor,
  { reauthenticated }: ChangeNotificationSettings,
): Failure | undefined => (needsProof ? refuseUnlessReauthenticated(actor, reauthenticated) : undefined);

/** Fields of an event that only hold what has changed. */
const given = <Fields extends object>(fields: Fields, isGiven: boolean): Fields | Record<string, never> =>
  isGiven ? fields : {};

/** The event's fields for a changed address, and the entry of the vault that nothing names any more. */
function addressFields(
  { webhookUrlRef: before }: Pick<NotificationSettings, 'webhookUrlRef'>,
  changed: Partial<NotificationValues>,
  stored: NonNullable<Facts['webhook']>['stored'],
) {
  if (!('webhookUrl' in changed)) return { data: {}, forget: [] };
  const data = stored ?? { webhookUrlRef: null };
  return { data, forget: replacedSecret(before, data.webhookUrlRef) };
}

const refuseForeignPrivate = (
  before: NotificationValues,
  after: NotificationValues,
  isSuperAdmin: boolean | undefined,
): Failure | undefined =>
  refuseUnlessOwnerOfPrivate(webhookReach(before), webhookReach(after), isSuperAdmin) ??
  refuseUnlessOwnerOfPrivate(smtpReach(before), smtpReach(after), isSuperAdmin);

const webhookReach = ({ webhookAllowPrivateNetwork, webhookUrl }: NotificationValues) => ({
  allowPrivateNetwork: webhookAllowPrivateNetwork,
  address: webhookUrl,
});
const smtpReach = ({ smtpAllowPrivateNetwork, smtpHost, smtpPort }: NotificationValues) => ({
  allowPrivateNetwork: smtpAllowPrivateNetwork,
  address: [smtpHost, smtpPort],
});

/** A stored password never goes to a server that it was not given for. */
function refuseMovedPassword(
  { values: before, smtpPasswordRef: stored }: NotificationSettings,
  after: NotificationValues,
  smtpPasswordRef: string | null,
): Failure | undefined {
  if (stored === null || stored !== smtpPasswordRef) return undefined;
  const moved = SMTP_ADDRESS.find((field) => before[field] !== after[field]);
  return moved && secretNeededAgain('smtpPassword', moved);
}

/** Only changes of the reach are checked: any other change must stay possible while a name leads elsewhere. */
function unreachableAddresses(
  destinations: Destinations,
  values: NotificationValues,
  changed: Partial<NotificationValues>,
): Promise<(Failure | undefined)[]> {
  const { webhookUrl, smtpHost } = values;
  const check = async (field: string, address: string, choice: DestinationChoice) => {
    const reason = await destinations.unreachable(address, choice);
    return reason === undefined ? undefined : invalid(field, reason);
  };
  const webhook = {
    allowPrivateNetwork: values.webhookAllowPrivateNetwork,
    allowedBy: 'webhookAllowPrivateNetwork',
    caCertificate: values.webhookCaCertificate,
  };
  const smtp = {
    allowPrivateNetwork: values.smtpAllowPrivateNetwork,
    allowedBy: 'smtpAllowPrivateNetwork',
    caCertificate: values.smtpCaCertificate,
  };
  const isMoved = (...fields: readonly (keyof NotificationValues)[]) => fields.some((field) => field in changed);
  return Promise.all([
    webhookUrl !== null && isMoved('webhookUrl', 'webhookAllowPrivateNetwork')
      ? check('webhookUrl', webhookUrl, webhook)
      : undefined,
    smtpHost !== null && isMoved('smtpHost', 'smtpAllowPrivateNetwork')
      ? check('smtpHost', `smtp://${smtpHost.includes(':') ? `[${smtpHost}]` : smtpHost}`, smtp)
      : undefined,
  ]);
}
