import { version } from '../../../platform/version.ts';
import type { RecordSeverity, RecordType } from '../domain/vocabulary.ts';
import type { FormatRecord, LogRecord } from './log-record.ts';

/** The schema's version: https://schema.ocsf.io/1.3.0. */
const SCHEMA = '1.3.0';

const SEVERITIES: Readonly<Record<RecordSeverity, readonly [id: number, caption: string]>> = {
  info: [1, 'Informational'],
  low: [2, 'Low'],
  medium: [3, 'Medium'],
  high: [4, 'High'],
  critical: [5, 'Critical'],
};

interface Classified {
  readonly class_uid: number;
  readonly activity_id: number;
  readonly activity_name?: string;
  readonly [attribute: string]: unknown;
}

type Data = LogRecord['data'];
const text = (data: Data, name: string): string | undefined => {
  const value = data[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};
const OTHER = 99;

/** Detection Finding. */
function finding(data: Data, id: string): Classified {
  const isRaised = data.action === 'alert.raised';
  const activity = isRaised ? 1 : data.action === 'alert.resolved' ? 3 : 2;
  return {
    class_uid: 2004,
    activity_id: activity,
    activity_name: data.action,
    finding_info: {
      uid: text(data, 'alertId') ?? id,
      title: text(data, 'title') ?? data.action,
      ...(text(data, 'description') ? { desc: text(data, 'description') } : {}),
      ...(text(data, 'alertType') ? { types: [text(data, 'alertType')] } : {}),
    },
  };
}

const ENTITY_ACTIVITIES: readonly (readonly [ending: RegExp, activity: number])[] = [
  [/\.created$|_created$|\.added$/, 1],
  [/\.viewed$|_viewed$|\.read$/, 2],
  [/\.updated$|_updated$|_changed$/, 3],
  [/\.deleted$|_deleted$|\.removed$|_removed$/, 4],
];

/** Entity Management. */
const managed = (data: Data): Classified => ({
  class_uid: 3004,
  activity_id: ENTITY_ACTIVITIES.find(([ending]) => ending.test(data.action))?.[1] ?? OTHER,
  activity_name: data.action,
  entity: { uid: text(data, 'resourceId') ?? 'unknown', type: text(data, 'resourceType') ?? 'unknown' },
  actor: {
    app_name: 'Castellan',
    ...(text(data, 'actorId') ? { user: { uid: text(data, 'actorId'), type: text(data, 'actorType') } } : {}),
  },
  ...(text(data, 'ipAddress') ? { src_endpoint: { ip: text(data, 'ipAddress') } } : {}),
});

const userOf = (data: Data) => ({
  uid: text(data, 'userId') ?? 'unknown',
  ...(text(data, 'username') ? { name: text(data, 'username') } : {}),
});
const endpointOf = (data: Data) => ({ hostname: text(data, 'domain') ?? 'unknown' });
const deviceOf = (data: Data) =>
  text(data, 'deviceId') ? { device: { uid: text(data, 'deviceId'), type_id: 0, type: 'Unknown' } } : {};

/** HTTP Activity. Which method the browser used is not known. */
const visited = (data: Data): Classified => ({
  class_uid: 4002,
  activity_id: 0,
  activity_name: 'Unknown',
  http_request: {
    url: {
      hostname: endpointOf(data).hostname,
      ...(text(data, 'url') ? { url_string: text(data, 'url') } : {}),
    },
  },
  dst_endpoint: endpointOf(data),
  actor: { user: userOf(data) },
  ...deviceOf(data),
});

/** Authentication. 1: Logon. */
const authenticated = (data: Data): Classified => ({
  class_uid: 3002,
  activity_id: 1,
  activity_name: 'Logon',
  user: userOf(data),
  dst_endpoint: endpointOf(data),
  ...statusOf(text(data, 'outcome')),
  ...(text(data, 'method') ? { auth_protocol: text(data, 'method'), auth_protocol_id: OTHER } : {}),
  ...deviceOf(data),
});

const verified = (data: Data): Classified => ({
  class_uid: 3002,
  activity_id: OTHER,
  activity_name: data.action,
  user: userOf(data),
  service: { name: 'Castellan caller verification' },
  ...statusOf(
    data.action === 'verification.succeeded'
      ? 'success'
      : data.action === 'verification.failed'
        ? 'failure'
        : undefined,
  ),
});

function statusOf(outcome: string | undefined) {
  if (outcome === 'success') return { status_id: 1, status: 'Success' };
  return outcome === 'failure' ? { status_id: 2, status: 'Failure' } : { status_id: 0, status: 'Unknown' };
}

const EXTENSION_CHANGES: Readonly<Record<string, number>> = {
  installed: 1,
  removed: 2,
  enabled: 6,
  disabled: 7,
  updated: 8,
};

/** Application Lifecycle. */
const extensionChanged = (data: Data): Classified => ({
  class_uid: 6002,
  activity_id: EXTENSION_CHANGES[text(data, 'change') ?? ''] ?? OTHER,
  activity_name: text(data, 'change') ?? 'Unknown',
  app: {
    uid: text(data, 'extensionId') ?? 'unknown',
    name: text(data, 'name') ?? text(data, 'extensionId') ?? 'unknown',
    vendor_name: 'unknown',
    ...(text(data, 'version') ? { version: text(data, 'version') } : {}),
  },
  ...deviceOf(data),
});

const CLASSES: Readonly<Record<RecordType, (data: Data, id: string) => Classified>> = {
  alert: finding,
  audit: managed,
  navigation: visited,
  credential_attempt: authenticated,
  auth_flow: authenticated,
  verification: verified,
  extension_event: extensionChanged,
};

/** One event of the Open Cybersecurity Schema Framework. `unmapped` holds all values under Castellan's names. */
export const formatOcsf: FormatRecord = ({ timestamp, tenantId, type, id, severity, data }) => {
  const classified = CLASSES[type](data, id);
  const [severityId, caption] = SEVERITIES[severity];
  return JSON.stringify({
    time: Date.parse(timestamp),
    category_uid: Math.floor(classified.class_uid / 1_000),
    ...classified,
    type_uid: classified.class_uid * 100 + classified.activity_id,
    severity_id: severityId,
    severity: caption,
    metadata: {
      version: SCHEMA,
      uid: id,
      tenant_uid: tenantId,
      log_name: type,
      product: { name: 'Castellan', vendor_name: 'Castellan', version },
    },
    unmapped: data,
  });
};
