import type { ExtensionWatchEvent, FoundExtension } from '../../extensions/domain/watch-events.ts';
import type { Envelope } from '../../../platform/kernel/event.ts';
import type { Finding } from './finding.ts';

type Named<Type extends ExtensionWatchEvent['type']> = Extract<ExtensionWatchEvent, { type: Type }> & Envelope;
type Judged = Named<'UnwhitelistedExtensionsFound' | 'ExtensionPermissionsChanged'>['data'];

/** One finding per extension. Its metadata names the report and the setting that asked for the alert. */
export const unwhitelistedIn = ({ data }: Named<'UnwhitelistedExtensionsFound'>): Finding[] =>
  data.extensions.map((found) => ({
    alertType: 'unwhitelisted_extension',
    title: `An extension that is not on the whitelist: ${found.name}`,
    description: 'A browser has an extension that the whitelist does not allow there.',
    ...concerning(data, found),
    metadata: { kind: 'extension_inventory', setting: 'alertOnUnwhitelisted', ...detailsOf(data, found) },
  }));

export const changedPermissions = ({ data }: Named<'ExtensionPermissionsChanged'>): Finding => ({
  alertType: 'extension_permission_change',
  title: 'A browser extension changed its permissions',
  description: 'An installed extension changed what it may do in the browser.',
  ...concerning(data, data.change),
  metadata: {
    kind: 'extension_event',
    setting: 'alertOnPermissionChange',
    ...detailsOf(data, data.change),
    permissions: data.change.permissions.slice(0, MAX_NAMED),
    permissionCount: data.change.permissions.length,
  },
});

/** The inventory has the complete list. */
const MAX_NAMED = 50;

const concerning = (
  { userId, deviceId, severity }: Judged,
  { extensionId, observationId, occurredAt }: FoundExtension,
) => ({
  userId,
  deviceId,
  severity,
  domain: null,
  url: null,
  about: extensionId,
  occurrences: [{ observationId, occurredAt }] as const,
});

const detailsOf = (
  { browserType, batchId, extensionMode, policyVersion }: Judged,
  found: FoundExtension,
): Finding['metadata'] => ({
  observedAt: found.occurredAt,
  observationIds: [found.observationId],
  batchId,
  extensionMode,
  policyVersion,
  extensionId: found.extensionId,
  extensionName: found.name,
  extensionVersion: found.version,
  publisher: found.publisher,
  riskLevel: found.riskLevel,
  browserType,
});
