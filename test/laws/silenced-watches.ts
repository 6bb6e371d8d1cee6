/** Declared records of which no change makes people hear of less, each with the reason (decision 0150). */
export const NO_WATCH: Readonly<Record<string, string>> = {
  scopedDomain: 'where policies apply; signals of browsers raise alerts everywhere',
  phishingWhitelistEntry: 'triage of false positives: one domain',
  extensionWhitelistEntry: 'triage of false positives: one extension',
  offboardingSettings: 'how long devices of leavers keep certificates that are suspended already',
  signature: 'triage of false positives: one pattern among many',
  clickfixSignature: 'as above',
};

/** Fields of records with a watch that choose something else, by `<noun>.<field>`, each with the reason. */
export const FREE_FIELDS: Readonly<Record<string, string>> = {
  'tenantSettings.extensionMode': 'what browsers do; they report in every mode',
  'tenantSettings.screenshotEnabled': 'evidence beside an alert, which is raised without it',
};
