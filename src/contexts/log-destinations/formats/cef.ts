import { version } from '../../../platform/version.ts';
import type { RecordSeverity } from '../domain/vocabulary.ts';
import { flatFields, oneLine, type FlatField } from './flat-fields.ts';
import type { FormatRecord } from './log-record.ts';

/** ArcSight Common Event Format, version 0: severities from 0 to 10. */
const SEVERITIES: Readonly<Record<RecordSeverity, number>> = { info: 1, low: 3, medium: 5, high: 8, critical: 10 };

/** Names of the format's dictionary, by field. */
const DICTIONARY: Readonly<Record<string, string>> = {
  domain: 'dhost',
  url: 'request',
  title: 'msg',
  userId: 'duid',
  deviceId: 'deviceExternalId',
  username: 'duser',
  actorId: 'suid',
  ipAddress: 'src',
  userAgent: 'requestClientApplication',
  outcome: 'outcome',
};

const header = (text: string): string => oneLine(text).replaceAll(/[\\|]/g, String.raw`\$&`);
/** Line breaks are written as `\n` and `\r`. */
const extension = (text: string): string =>
  oneLine(
    text
      .replaceAll(/[\\=]/g, String.raw`\$&`)
      .replaceAll('\n', String.raw`\n`)
      .replaceAll('\r', String.raw`\r`),
  );

const PREFIX = `CEF:0|Castellan|Castellan|${header(version)}|`;

/** Fields without a name in the dictionary are named `castellanAlertType`. */
const keyOf = (name: string): string => DICTIONARY[name] ?? `castellan${name.charAt(0).toUpperCase()}${name.slice(1)}`;

export const formatCef: FormatRecord = ({ timestamp, tenantId, type, id, severity, data: { action, ...data } }) => {
  const pairs: FlatField[] = [
    ['rt', String(Date.parse(timestamp))],
    ['externalId', id],
    ['cat', type],
    ['cs1Label', 'tenantId'],
    ['cs1', tenantId],
    ...flatFields(data).map(([name, value]): FlatField => [keyOf(name), value]),
  ];
  const text = pairs.map(([name, value]) => `${name}=${extension(value)}`).join(' ');
  return `${PREFIX}${header(action)}|${header(action)}|${SEVERITIES[severity]}|${text}`;
};
