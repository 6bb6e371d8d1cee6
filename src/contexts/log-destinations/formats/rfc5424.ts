import { syslogFacilities, type RecordSeverity, type SyslogFacility } from '../domain/vocabulary.ts';
import { flatFields, oneLine } from './flat-fields.ts';
import type { FormatRecord, LogRecord } from './log-record.ts';

/** RFC 5424 §6.2.1: critical, error, warning, notice, informational. */
const SEVERITIES: Readonly<Record<RecordSeverity, number>> = { critical: 2, high: 3, medium: 4, low: 5, info: 6 };

/** 32473 is the enterprise number for documentation (RFC 5612): Castellan has none of its own. */
const SD_ID = 'castellan@32473';
const MAX_NAME = 32;

/** Most values need no escape: one look finds that out. */
// eslint-disable-next-line no-control-regex
const SPECIAL = /["\\\]\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** RFC 5424 §6.3.3. Controls are allowed there, but receivers split lines at them. */
const escaped = (value: string): string =>
  SPECIAL.test(value) ? oneLine(value).replaceAll(/["\\\]]/g, String.raw`\$&`) : value;
const parameter = (name: string, value: string): string =>
  `${name.length > MAX_NAME ? name.slice(0, MAX_NAME) : name}="${escaped(value)}"`;

/** The header up to the structured data. Record types fit MSGID. */
export const syslogHeader = (
  { timestamp, type, severity }: Pick<LogRecord, 'timestamp' | 'type' | 'severity'>,
  facility: SyslogFacility,
): string =>
  `<${syslogFacilities.indexOf(facility) * 8 + SEVERITIES[severity]}>1 ${timestamp} castellan castellan - ${type}`;

/** A message with structured data; the text after it is the action. */
export const formatRfc5424 =
  (facility: SyslogFacility): FormatRecord =>
  (record) => {
    const { tenantId, id, severity, data } = record;
    const { action, ...rest } = data;
    const parameters = [
      parameter('tenantId', tenantId),
      parameter('id', id),
      parameter('severity', severity),
      ...flatFields(rest).map(([name, value]) => parameter(name, value)),
    ];
    return `${syslogHeader(record, facility)} [${SD_ID} ${parameters.join(' ')}] ${oneLine(action)}`;
  };
