import type { LogFormat, SyslogFacility } from '../domain/vocabulary.ts';
import { formatCef } from './cef.ts';
import { formatJson } from './json.ts';
import { formatLeef } from './leef.ts';
import type { FormatRecord } from './log-record.ts';
import { formatOcsf } from './ocsf.ts';
import { formatRfc5424, syslogHeader } from './rfc5424.ts';

/** Facility of RFC 5424 lines that travel over anything but syslog. */
const ELSEWHERE: SyslogFacility = 'local0';

const LINES: Readonly<Record<LogFormat, FormatRecord>> = {
  json: formatJson,
  cef: formatCef,
  leef: formatLeef,
  ocsf: formatOcsf,
  rfc5424: formatRfc5424(ELSEWHERE),
};

export const lineFormat = (format: LogFormat): FormatRecord => LINES[format];

/** Whether a line of the format is a JSON object. */
export const isJsonFormat = (format: LogFormat): boolean => format === 'json' || format === 'ocsf';

/** A whole syslog message. Lines of other formats become the text of one, without structured data. */
export function syslogFormat(format: LogFormat, facility: SyslogFacility): FormatRecord {
  if (format === 'rfc5424') return formatRfc5424(facility);
  const line = LINES[format];
  return (record) => `${syslogHeader(record, facility)} - ${line(record)}`;
}
