/** OP-203. */
export const destinationTypes = ['syslog', 'webhook', 'splunk_hec', 'elasticsearch', 's3'] as const;
export type DestinationType = (typeof destinationTypes)[number];

export const logFormats = ['json', 'cef', 'leef', 'rfc5424', 'ocsf'] as const;
export type LogFormat = (typeof logFormats)[number];

/** Kinds of records that a destination can receive (`eventTypes`). */
export const recordTypes = [
  'alert',
  'audit',
  'navigation',
  'credential_attempt',
  'auth_flow',
  'extension_event',
  'verification',
] as const;
export type RecordType = (typeof recordTypes)[number];

/** `unknown`: nothing was sent yet. `paused`: the destination is disabled. */
export const destinationStatuses = ['unknown', 'healthy', 'failing', 'paused'] as const;
export type DestinationStatus = (typeof destinationStatuses)[number];

export const recordSeverities = ['info', 'low', 'medium', 'high', 'critical'] as const;
export type RecordSeverity = (typeof recordSeverities)[number];

/** Transports of syslog: RFC 5426, RFC 6587 with octet counting, RFC 5425. */
export const syslogProtocols = ['udp', 'tcp', 'tls'] as const;
export type SyslogProtocol = (typeof syslogProtocols)[number];

/** RFC 5424 §6.2.1, in the order of their numbers. */
export const syslogFacilities = [
  'kern',
  'user',
  'mail',
  'daemon',
  'auth',
  'syslog',
  'lpr',
  'news',
  'uucp',
  'cron',
  'authpriv',
  'ftp',
  'ntp',
  'audit',
  'alert',
  'clock',
  'local0',
  'local1',
  'local2',
  'local3',
  'local4',
  'local5',
  'local6',
  'local7',
] as const;
export type SyslogFacility = (typeof syslogFacilities)[number];

export const webhookPayloads = ['ndjson', 'array'] as const;
