import type { FormatRecord } from './log-record.ts';

/** One JSON object: `{timestamp, tenantId, type, id, severity, data}` (OP-205). JSON escapes line breaks. */
export const formatJson: FormatRecord = ({ timestamp, tenantId, type, id, severity, data }) =>
  JSON.stringify({ timestamp, tenantId, type, id, severity, data });
