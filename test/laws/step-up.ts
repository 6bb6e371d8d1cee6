import type { Permission } from '../../src/contexts/identity/domain/permissions.ts';

export const ALWAYS = 'always';

/**
 * Which writes of administrators need a re-authentication token, and why the others do not. The rule (decision 0129): a
 * write needs one if somebody gains access by it that outlives the session (an account, a sign-in, a browser, an address or
 * a secret), if people no longer hear of attacks on the tenant, or if evidence is destroyed for good. Keyed by permission,
 * so that a new route follows the rule of its permission.
 */
export const STEP_UP_BY_PERMISSION: Readonly<Partial<Record<Permission, typeof ALWAYS | { readonly never: string }>>> =
  {
    'sso-configs:write': ALWAYS,
    'certificates:write': ALWAYS,
    'directory-sources:write': ALWAYS,
    'directory-sources:confirm': ALWAYS,
    'self:write': ALWAYS,
    'base-url:write': ALWAYS,
    'admin-users:write': ALWAYS,
    'scim-clients:write': ALWAYS,
    'employees:write': { never: 'employees cannot sign in here, and a deleted one can be added again' },
    'alerts:write': { never: 'triage changes no account' },
    'endpoints:write': { never: 'a classification changes no account' },
    'devices:write': { never: 'takes access from devices and gives none' },
    'devices:silence': { never: 'silences notices about one device' },
    'policies:test': { never: 'changes nothing' },
    'policies:write': { never: 'decides what browsers do, not who signs in' },
    'unblock-keys:write': { never: 'opens one page in one browser' },
    'settings:write': { never: 'changes how the tenant is run, not who signs in to it' },
    'license:write': {
      never:
        'a license is signed by its issuer, names no account, and another one can be installed; it must go in while everything else is closed',
    },
    'threat-intel:write': { never: 'switches services; the key itself is an exception below' },
    'countermeasures:write': { never: 'decoys change no account' },
    'signatures:write': { never: 'decides what browsers detect' },
    'notifications:write': { never: 'decides how somebody hears of alerts; who hears of them is an exception below' },
    'on-call:override': { never: 'decides who is paged, not who can sign in' },
    'on-call:write': {
      never: 'decides who is paged, not who can sign in; an address for the shifts is an exception below',
    },
    'updates:write': {
      never:
        "installs only what the publisher's key has signed, by the operator's own command; an unsigned bundle is an exception below",
    },
    'extension-monitoring:whitelist': { never: 'decides which extensions are reported' },
    'extension-monitoring:write': { never: 'decides which extensions are reported' },
    'enrollment:write': {
      never: 'a token that names nobody enrolls a new placeholder; fleets are rolled out by scripts',
    },
    'integrations:write': {
      never: 'tests a destination, or sends refused records again; where the log goes is an exception below',
    },
    'groups:write': { never: 'groups of employees' },
    'verification:write': { never: 'checks a code and changes nothing' },
  };

/** Routes that differ from their permission, each with the reason. */
export const STEP_UP_EXCEPTIONS: Readonly<
  Record<string, { readonly stepUp: 'always' | 'where' | 'never'; readonly because: string }>
> = {
  'POST /api/v1/admin/verify-password': { stepUp: 'never', because: 'this is how the token is got' },
  'PUT /api/v1/admin/me': { stepUp: 'never', because: 'a display name gives no rights' },
  'POST /api/v1/admin/change-password': {
    stepUp: 'never',
    because: 'the current password in the request is the proof',
  },
  'DELETE /api/v1/admin/me/sessions': {
    stepUp: 'never',
    because: 'takes access away from whoever has a stolen session, and nothing may delay it',
  },
  'DELETE /api/v1/admin/me/sessions/{sessionId}': { stepUp: 'never', because: 'as above' },
  'POST /api/v1/admin/mobile/devices': {
    stepUp: 'never',
    because:
      'the app registers itself in the background, without a person who could enter a password; a device gets ids and severities of alerts, signs in to nothing, and goes when the sessions of the account are ended',
  },
  'DELETE /api/v1/admin/mobile/devices/{deviceId}': {
    stepUp: 'never',
    because: 'takes pushes away from a device, and nothing may delay it',
  },
  'PUT /api/v1/admin/mobile/preferences': {
    stepUp: 'where',
    because: 'a person whose pushes are off, or who rests all day, hears of no attack',
  },
  'PUT /api/v1/admin/alert-notifications/push-rules/{ruleId}': {
    stepUp: 'where',
    because: 'a rule that is off or narrowed calls nobody, or about less',
  },
  'DELETE /api/v1/admin/alert-notifications/push-rules/{ruleId}': { stepUp: 'where', because: 'as above' },
  'PUT /api/v1/admin/settings': {
    stepUp: 'where',
    because: 'without e-mail, or without the check for breached passwords, nobody hears of what happens',
  },
  'PUT /api/v1/admin/settings/alert-severity': {
    stepUp: 'where',
    because: 'alerts that are less severe stay below what people asked to be told of',
  },
  'PUT /api/v1/admin/extension-monitoring/settings': {
    stepUp: 'where',
    because: 'alerts about extensions would not be raised, or be less severe',
  },
  'PUT /api/v1/admin/active-countermeasures/canary-cookies/{cookieID}': {
    stepUp: 'where',
    because: 'a canary that is off or elsewhere betrays nobody',
  },
  'DELETE /api/v1/admin/active-countermeasures/canary-cookies/{cookieID}': { stepUp: 'where', because: 'as above' },
  'POST /api/v1/admin/directory-sources/{sourceID}/test': { stepUp: 'never', because: 'stores nothing' },
  'POST /api/v1/admin/directory-sources/{sourceID}/sync': {
    stepUp: 'never',
    because: 'does now what the schedule does anyway',
  },
  'POST /api/v1/admin/directory-sources/sync-all': { stepUp: 'never', because: 'as above' },
  'POST /api/v1/admin/sso-configs/test': { stepUp: 'never', because: 'stores nothing' },
  'POST /api/v1/admin/updates/upload': { stepUp: 'where', because: 'a signed bundle is vouched for by its publisher' },
  'PUT /api/v1/admin/admin-users/{userID}': {
    stepUp: 'where',
    because: 'a display name, or fewer rights of an analyst, give no access',
  },
  'DELETE /api/v1/admin/admin-users/{userID}': { stepUp: 'where', because: 'an analyst or viewer controls no account' },
  'PUT /api/v1/admin/admin-users/{userID}/mobile-access': {
    stepUp: 'where',
    because: 'who loses the app hears of no attack there',
  },
  'POST /api/v1/admin/enrollment/token': {
    stepUp: 'where',
    because: "a token that names an employee makes a browser that employee's, codes for the help desk included",
  },
  'POST /api/v1/admin/enrollment/bulk-config': {
    stepUp: 'where',
    because: 'many tokens that live long enroll browsers long after the session has ended',
  },
  'POST /api/v1/admin/enrollment/agent-secret': {
    stepUp: 'always',
    because: 'the secret enrolls browsers in the name of any employee',
  },
  'DELETE /api/v1/admin/enrollment/agent-secret': {
    stepUp: 'always',
    because: 'the secret cannot be shown again: every agent needs another one',
  },
  'DELETE /api/v1/admin/enrollment/agent-secret/{secretID}': { stepUp: 'always', because: 'as above' },
  'PUT /api/v1/admin/devices/{deviceID}/confirm-enrollment': {
    stepUp: 'always',
    because: "vouches that a browser is its employee's",
  },
  'PUT /api/v1/admin/devices/{deviceID}/allow-reenrollment': {
    stepUp: 'always',
    because: 'gives access back that was taken away',
  },
  'PUT /api/v1/admin/users/{userID}': {
    stepUp: 'where',
    because: 'the e-mail decides whom auto-enrollment and verification codes find',
  },
  'DELETE /api/v1/admin/users/{userID}': {
    stepUp: 'where',
    because: 'an erasure destroys what is known of a person, for ever',
  },
  'PUT /api/v1/admin/settings/mobile-access-by-role': {
    stepUp: 'where',
    because: 'roles that lose the app hear of no attack there',
  },
  'PUT /api/v1/admin/on-call/schedules/{scheduleId}': {
    stepUp: 'where',
    because: 'switched off, with other participants, turns or less escalation, it no longer calls who was called',
  },
  'DELETE /api/v1/admin/on-call/schedules/{scheduleId}': { stepUp: 'always', because: 'it calls nobody any more' },
  'POST /api/v1/admin/on-call/overrides': {
    stepUp: 'where',
    because: 'people swap shifts freely; for longer, nobody else is called',
  },
  'DELETE /api/v1/admin/on-call/schedules/{scheduleId}/overrides/{overrideId}': {
    stepUp: 'where',
    because: 'whoever has stood in for long may do so for somebody who is away',
  },
  'POST /api/v1/admin/integrations/log-destinations': {
    stepUp: 'always',
    because: 'sends the log to another system from now on, long after the session has ended',
  },
  'PUT /api/v1/admin/integrations/log-destinations/{destID}': {
    stepUp: 'where',
    because:
      'the same where the address or what protects it changes; and where it no longer gets alerts or audit entries, the watch is silenced',
  },
  'DELETE /api/v1/admin/integrations/log-destinations/{destID}': {
    stepUp: 'always',
    because: 'silences the copy of the log that an attacker cannot reach otherwise',
  },
  'PUT /api/v1/admin/alert-notifications/settings': {
    stepUp: 'where',
    because:
      'a new recipient or server gets alerts from now on, long after the session has ended; a former one hears of no attack any more',
  },
  'PUT /api/v1/admin/alert-notifications/webhook-secret': {
    stepUp: 'always',
    because: 'the first one opens the webhook; who knows it can forge messages, and another one silences the receiver',
  },
  'PUT /api/v1/admin/alert-notifications/smtp-password': {
    stepUp: 'always',
    because: 'chooses the account at the mail server, and a wrong one silences alert e-mail',
  },
  'POST /api/v1/admin/on-call/schedules/{scheduleId}/calendar': {
    stepUp: 'always',
    because: 'whoever knows the address sees who is on call, without a session, until it is revoked',
  },
  'POST /api/v1/admin/integrations/log-destinations/{destID}/backfill': {
    stepUp: 'always',
    because: 'sends the whole history of the tenant to another system',
  },
  'PUT /api/v1/admin/threat-intel/api-key': { stepUp: 'always', because: 'as the interface has it' },
};
