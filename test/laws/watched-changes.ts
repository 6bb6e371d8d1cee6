/**
 * Events of accounts, sign-in, ways out and watches that raise no alert of `account-control-alerts`, each with the reason
 * (decision 0129). An event raises one if somebody gains lasting access by it, or if somebody no longer hears of an attack.
 */
export const NOT_WATCHED: Readonly<Record<string, string>> = {
  TenantSetUp: 'creates the tenant; there is nobody to alert yet',
  LicenseInstalled: 'names no account; signed by its issuer',
  AdminSessionsRevoked: 'ends access',
  AdminOtherSessionsRevoked: 'ends access',
  AdminMfaSetupStarted: 'has no effect before AdminMfaEnabled',
  AdminBackupCodeUsed: 'a sign-in, with the second factor of the account',
  ScimClientSecretRemoved: 'ends access',
  ScimClientDeleted: 'ends access',
  AgentSecretRemoved: 'ends access',
  LogBackfillRequested: 'sends to an address that raised its own alert',
  WebhookDisabled: 'the receiver itself said that it is gone, and the settings show it',
  ExtensionModeChanged: 'decides what browsers do',
  OnCallScheduleCreated: 'calls more people',
  OnCallOverrideRemoved: 'the rotation holds again',
  OnCallCalendarRevoked: 'ends access',
  MobileDeviceRegistered:
    'the app registers itself after each sign-in, and an alert would page the team each time; the device gets ids and severities, and goes when the sessions of the account are ended',
  MobileDeviceRefreshed: 'a device that is known',
  MobileDeviceRemoved: 'the app does it at each sign-out, and e-mail, dashboard and destinations stay',
  MobilePreferencesSet: 'a person decides which pushes reach their own devices',
};
