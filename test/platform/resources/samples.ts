type Body = Readonly<Record<string, unknown>>;

/** The input of a resource: the n-th record, with unique values that differ from every other. */
export interface Sample {
  readonly draft: (n: number) => Body;
  /** A change that keeps the unique values. */
  readonly change: Body;
  /** Invalid values for fields of a draft. */
  readonly broken: Body;
}

/** One for every declared resource, by its noun. */
export const samples: Readonly<Record<string, Sample>> = {
  gadget: {
    draft: (n) => ({
      name: `Gadget ${n}`,
      kind: 'round',
      weight: n,
      labels: ['new'],
      token: `a secret of gadget ${n}`,
    }),
    change: { pieces: 4, labels: ['old', 'used'], token: 'another secret of the gadget' },
    broken: { pieces: '4' },
  },
  gadgetSettings: {
    draft: () => ({}),
    change: { limit: 42, colour: 'blue', owner: 'somebody', password: 'the secret of the settings' },
    broken: { limit: 0 },
  },
  scopedDomain: {
    draft: (n) => ({ domain: `intern-${n}.example.com`, scope: 'excluded', includeSubdomains: false }),
    change: {},
    broken: { domain: 'co.uk' },
  },
  phishingWhitelistEntry: {
    draft: (n) => ({ domain: `partner-${n}.example.com`, reason: 'looks like us' }),
    change: {},
    broken: { reason: 7 },
  },
  canaryCookie: {
    draft: (n) => ({ name: `session_${n}`, domain: 'example.com', path: '/admin', description: 'bait' }),
    change: { isEnabled: false, description: 'retired' },
    broken: { domain: 'not a host' },
  },
  extensionWhitelistEntry: {
    draft: (n) => ({
      extensionId: `extension-${n}`,
      name: `Extension ${n}`,
      publisher: 'Example',
      browserType: 'chrome',
    }),
    change: { name: 'Renamed', publisher: null, reason: 'reviewed' },
    broken: { browserType: 'lynx' },
  },
  pushRule: {
    draft: (n) => ({ name: `Rule ${n}`, severities: ['critical'], alertTypes: ['phishing_detected'] }),
    change: { isEnabled: false, severities: [], alertTypes: ['weak_password'] },
    broken: { severities: ['severe'] },
  },
  extensionMonitoringSettings: {
    draft: () => ({}),
    change: { alertOnUnwhitelisted: true, alertSeverity: 'high', inventoryIntervalHours: 6 },
    broken: { inventoryIntervalHours: 0 },
  },
  offboardingSettings: {
    draft: () => ({}),
    change: { certificateGraceMinutes: 240 },
    broken: { certificateGraceMinutes: -1 },
  },
  signature: {
    draft: (n) => ({
      name: `Signature ${n}`,
      type: 'domain',
      pattern: `login-${n}.example.com`,
      patternType: 'exact',
      severity: 'high',
    }),
    change: { patternType: 'wildcard', pattern: '*.example.com', isEnabled: false },
    broken: { patternType: 'regex', pattern: '(a' },
  },
  clickfixSignature: {
    draft: (n) => ({
      name: `ClickFix ${n}`,
      pattern: `powershell -w ${n}`,
      patternType: 'substring',
      platform: 'windows',
      action: 'block',
    }),
    change: { severity: 'critical', isEnabled: false },
    broken: { patternType: 'regex', pattern: '(?<!a)b' },
  },
  tenantSettings: {
    draft: () => ({}),
    change: { extensionMode: 'warn', learningThreshold: 9, alertEmailEnabled: false, timezone: 'Europe/Berlin' },
    broken: { learningThreshold: '5' },
  },
};
