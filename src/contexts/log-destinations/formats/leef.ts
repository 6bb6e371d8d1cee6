import { version } from '../../../platform/version.ts';
import type { RecordSeverity } from '../domain/vocabulary.ts';
import { flatFields, oneLine, type FlatField } from './flat-fields.ts';
import type { FormatRecord } from './log-record.ts';

/** IBM Log Event Extended Format 2.0: severities from 1 to 10. */
const SEVERITIES: Readonly<Record<RecordSeverity, number>> = { info: 1, low: 3, medium: 5, high: 8, critical: 10 };

/** Attributes that the format predefines, by field. */
const PREDEFINED: Readonly<Record<string, string>> = {
  url: 'url',
  domain: 'dstHostName',
  username: 'usrName',
  userId: 'accountName',
  ipAddress: 'src',
  resourceType: 'resource',
  policyId: 'policy',
};

/** The header has no escape, so its separator is replaced. */
const header = (text: string): string => oneLine(text).replaceAll('|', '_');

/** Attributes are separated by tabs, which no value contains: controls are replaced. */
const PREFIX = `LEEF:2.0|Castellan|Castellan|${header(version)}|`;
const TIME_FORMAT = "yyyy-MM-dd'T'HH:mm:ss.SSSX";

export const formatLeef: FormatRecord = ({ timestamp, tenantId, type, id, severity, data: { action, ...data } }) => {
  const pairs: FlatField[] = [
    ['devTime', timestamp],
    ['devTimeFormat', TIME_FORMAT],
    ['cat', type],
    ['sev', String(SEVERITIES[severity])],
    ['externalId', id],
    ['tenantId', tenantId],
    ...flatFields(data).map(([name, value]): FlatField => [PREDEFINED[name] ?? name, value]),
  ];
  const text = pairs.map(([name, value]) => `${name}=${oneLine(value)}`).join('\t');
  return `${PREFIX}${header(action)}|x09|${text}`;
};
