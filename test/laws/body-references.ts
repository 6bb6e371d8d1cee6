/** The kinds of records that requests name in their bodies. */
export const referenced = [
  'administrator',
  'device',
  'employee',
  'enrollmentBatch',
  'group',
  'onCallSchedule',
  'policy',
  'pushRule',
] as const;
export type Referenced = (typeof referenced)[number];

/** One of each kind in a tenant, and what routes need in their paths. */
export type Records = Readonly<Record<Referenced | 'alert' | 'resolvedAlert' | 'rollout', string>>;

export interface NamedRecord {
  readonly names: Referenced;
  /** A request that succeeds if `id` is that of a record in the tenant of `own`. */
  readonly request: (id: string, own: Records) => { readonly path: string; readonly body: object };
}

const BASE = '/api/v1/admin';
const SOON = Date.now() + 3_600_000;
const at = (ms: number) => new Date(ms).toISOString();
let made = 0;
const name = () => `Named ${(made += 1)}`;
const rules = [{ domainMatch: { type: 'wildcard', value: '*' }, condition: 'any', action: 'warn' }];
const stages = (groupId: string) => [{ percent: 1, groupIds: [groupId] }, { percent: 2 }, { percent: 3 }];
const override = { startsAt: at(SOON), endsAt: at(SOON + 60_000) };

/** `<method> <path> <field>`: which record the field names (OP-433). */
export const REFERENCES: Readonly<Record<string, NamedRecord>> = {
  'PUT /api/v1/admin/alerts/{alertID}/assign assigneeId': {
    names: 'administrator',
    request: (assigneeId, { alert }) => ({ path: `${BASE}/alerts/${alert}/assign`, body: { assigneeId } }),
  },
  'PUT /api/v1/admin/alerts/{alertID}/policy-action policyId': {
    names: 'policy',
    request: (policyId, { resolvedAlert }) => ({
      path: `${BASE}/alerts/${resolvedAlert}/policy-action`,
      body: { action: 'created', policyId },
    }),
  },
  'POST /api/v1/admin/enrollment/token userId': {
    names: 'employee',
    request: (userId) => ({ path: `${BASE}/enrollment/token`, body: { userId } }),
  },
  'POST /api/v1/admin/enrollment/tokens/revoke batchId': {
    names: 'enrollmentBatch',
    request: (batchId) => ({ path: `${BASE}/enrollment/tokens/revoke`, body: { batchId } }),
  },
  'POST /api/v1/admin/policies groupIds': {
    names: 'group',
    request: (groupId) => ({ path: `${BASE}/policies`, body: { name: name(), rules, groupIds: [groupId] } }),
  },
  'PUT /api/v1/admin/policies/{policyID} groupIds': {
    names: 'group',
    request: (groupId, { policy }) => ({ path: `${BASE}/policies/${policy}`, body: { groupIds: [groupId] } }),
  },
  'POST /api/v1/admin/policies/test userId': {
    names: 'employee',
    request: (userId) => ({ path: `${BASE}/policies/test`, body: { domain: 'a.example', userId } }),
  },
  'POST /api/v1/admin/unblock-keys userId': {
    names: 'employee',
    request: (userId) => ({
      path: `${BASE}/unblock-keys`,
      body: { domain: 'a.example', userId, reason: 'needed', expiresInHours: 1 },
    }),
  },
  'POST /api/v1/admin/unblock-keys deviceId': {
    names: 'device',
    request: (deviceId) => ({
      path: `${BASE}/unblock-keys`,
      body: { domain: 'a.example', deviceId, reason: 'needed', expiresInHours: 1 },
    }),
  },
  'POST /api/v1/admin/groups/{groupID}/members userIds': {
    names: 'employee',
    request: (userId, { group }) => ({ path: `${BASE}/groups/${group}/members`, body: { userIds: [userId] } }),
  },
  'POST /api/v1/admin/groups/{groupID}/members userId': {
    names: 'employee',
    request: (userId, { group }) => ({ path: `${BASE}/groups/${group}/members`, body: { userId } }),
  },
  'POST /api/v1/admin/groups/{groupID}/policies policyIds': {
    names: 'policy',
    request: (policyId, { group }) => ({ path: `${BASE}/groups/${group}/policies`, body: { policyIds: [policyId] } }),
  },
  'POST /api/v1/admin/groups/{groupID}/policies policyId': {
    names: 'policy',
    request: (policyId, { group }) => ({ path: `${BASE}/groups/${group}/policies`, body: { policyId } }),
  },
  'PUT /api/v1/admin/users/{userID}/groups groupIds': {
    names: 'group',
    request: (groupId, { employee }) => ({ path: `${BASE}/users/${employee}/groups`, body: { groupIds: [groupId] } }),
  },
  'POST /api/v1/admin/on-call/schedules participants': {
    names: 'administrator',
    request: (adminId) => ({ path: `${BASE}/on-call/schedules`, body: { name: name(), participants: [adminId] } }),
  },
  'PUT /api/v1/admin/on-call/schedules/{scheduleId} participants': {
    names: 'administrator',
    request: (adminId, { onCallSchedule }) => ({
      path: `${BASE}/on-call/schedules/${onCallSchedule}`,
      body: { participants: [adminId] },
    }),
  },
  'POST /api/v1/admin/on-call/overrides scheduleId': {
    names: 'onCallSchedule',
    request: (scheduleId, { administrator }) => ({
      path: `${BASE}/on-call/overrides`,
      body: { ...override, scheduleId, adminUserId: administrator },
    }),
  },
  'POST /api/v1/admin/on-call/overrides adminUserId': {
    names: 'administrator',
    request: (adminUserId, { onCallSchedule }) => ({
      path: `${BASE}/on-call/overrides`,
      body: { scheduleId: onCallSchedule, adminUserId, startsAt: at(SOON + 120_000), endsAt: at(SOON + 180_000) },
    }),
  },
  'POST /api/v1/admin/alert-notifications/push-rules groupIds': {
    names: 'group',
    request: (groupId) => ({
      path: `${BASE}/alert-notifications/push-rules`,
      body: { name: name(), groupIds: [groupId] },
    }),
  },
  'POST /api/v1/admin/alert-notifications/push-rules scheduleId': {
    names: 'onCallSchedule',
    request: (scheduleId) => ({ path: `${BASE}/alert-notifications/push-rules`, body: { name: name(), scheduleId } }),
  },
  'PUT /api/v1/admin/alert-notifications/push-rules/{ruleId} groupIds': {
    names: 'group',
    request: (groupId, { pushRule }) => ({
      path: `${BASE}/alert-notifications/push-rules/${pushRule}`,
      body: { groupIds: [groupId] },
    }),
  },
  'PUT /api/v1/admin/alert-notifications/push-rules/{ruleId} scheduleId': {
    names: 'onCallSchedule',
    request: (scheduleId, { pushRule }) => ({
      path: `${BASE}/alert-notifications/push-rules/${pushRule}`,
      body: { scheduleId },
    }),
  },
  'POST /api/v1/admin/alert-notifications/push-rules/test ruleId': {
    names: 'pushRule',
    request: (ruleId) => ({ path: `${BASE}/alert-notifications/push-rules/test`, body: { ruleId } }),
  },
  'POST /api/v1/admin/extension-rollouts stages.0.groupIds': {
    names: 'group',
    request: (groupId) => ({
      path: `${BASE}/extension-rollouts`,
      body: { version: '2.1.0', stages: stages(groupId) },
    }),
  },
  'PUT /api/v1/admin/extension-rollouts/{rolloutId} stages.0.groupIds': {
    names: 'group',
    request: (groupId, { rollout }) => ({
      path: `${BASE}/extension-rollouts/${rollout}`,
      body: { stages: stages(groupId) },
    }),
  },
  'POST /api/v1/admin/verification/daily-code/verify userId': {
    names: 'employee',
    request: (userId) => ({ path: `${BASE}/verification/daily-code/verify`, body: { userId, code: '000000' } }),
  },
  'POST /api/v1/admin/verification/otp/verify userId': {
    names: 'employee',
    request: (userId) => ({ path: `${BASE}/verification/otp/verify`, body: { userId, code: '000000' } }),
  },
};

/** What becomes of a stored reference when the record that it names is to be deleted (OP-438, decision 0108). */
interface Deletion {
  /** Fields of requests that store it. */
  readonly fields: readonly RegExp[];
  /** `refused`: 409 that names who refers to it. `dropped`: an event takes it out. `kept`: the id stays. */
  readonly deletion: 'refused' | 'dropped' | 'kept' | 'nothing is stored';
  readonly because: string;
}

/** By `<record>.<field>`. */
export const DELETIONS: Readonly<Record<string, Deletion>> = {
  'policy.groupIds': {
    fields: [/policies(?:\/\{policyID\})? groupIds$/],
    deletion: 'refused',
    because: 'the policy would protect fewer people, or nobody',
  },
  'pushRule.groupIds': {
    fields: [/push-rules(?:\/\{ruleId\})? groupIds$/],
    deletion: 'refused',
    because: 'pages about these people would stop',
  },
  'pushRule.scheduleId': {
    fields: [/push-rules(?:\/\{ruleId\})? scheduleId$/],
    deletion: 'refused',
    because: 'the rule would call nobody',
  },
  'extensionRollout.stages.groupIds': {
    fields: [/extension-rollouts\S* stages\.0\.groupIds$/],
    deletion: 'refused',
    because: 'the stage would reach fewer devices than was decided; ended rollouts are history',
  },
  'group.members': {
    fields: [/groups\/\{groupID\}\/members userIds?$/, /users\/\{userID\}\/groups groupIds$/],
    deletion: 'dropped',
    because: 'a former member leaves by an event (decision 0118), and a deleted group has no members',
  },
  'group.policies': {
    fields: [/groups\/\{groupID\}\/policies policyIds?$/],
    deletion: 'dropped',
    because: 'the policy itself holds its groups, and they go with it',
  },
  'onCallSchedule.participants': {
    fields: [/on-call\/schedules\S* participants$/],
    deletion: 'kept',
    because:
      'nothing may delay the end of an account; whoever it was is passed over by pages, and coverage shows the gap',
  },
  'onCallOverride.adminUserId': {
    fields: [/on-call\/overrides adminUserId$/],
    deletion: 'kept',
    because: 'as for participants',
  },
  'onCallOverride.scheduleId': {
    fields: [/on-call\/overrides scheduleId$/],
    deletion: 'dropped',
    because: 'overrides are part of their schedule and end with it',
  },
  'alert.assigneeId': {
    fields: [/alerts\/\{alertID\}\/assign assigneeId$/],
    deletion: 'kept',
    because: 'nothing may delay the end of an account; the alert says who had it, and can be assigned again',
  },
  'alert.policyId': {
    fields: [/policy-action policyId$/],
    deletion: 'kept',
    because: 'says what was done at that time',
  },
  'enrollmentToken.userId': {
    fields: [/enrollment\/token userId$/],
    deletion: 'kept',
    because: 'the token is refused when it is used: its employee is not active',
  },
  'unblockKey.userId and deviceId': {
    fields: [/unblock-keys (?:userId|deviceId)$/],
    deletion: 'kept',
    because: 'the key opens a page for this person or device only, and expires within days',
  },
  nothing: {
    fields: [
      /policies\/test userId$/,
      /push-rules\/test ruleId$/,
      /tokens\/revoke batchId$/,
      /verification\/\S+ userId$/,
    ],
    deletion: 'nothing is stored',
    because: 'a question, or a revocation',
  },
};

const AT_A_PROVIDER = 'a name at the identity provider, which the service cannot look up';
const BEFORE_SIGN_IN = 'known before the caller is: whatever does not fit gets the same refusal as a wrong secret';
const DRAFT = 'stores nothing; a saved record may keep a group that its source deleted, and can be tested';

/** Fields that look like an id and name no record of the tenant, by what they end with, with the reason. */
export const NO_REFERENCES: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/ (?:rules|policy\.rules)\.0\.id$/, 'the id of a rule within the policy itself'],
  [/policies\/test policy\.groupIds$/, DRAFT],
  [/push-rules\/test rule\.(?:groupIds|scheduleId)$/, DRAFT],
  [/users\/bulk userIds$/, 'the response lists the ids that name nobody; the others are deleted'],
  [/refused\/retry recordIds$/, 'a record that has left the list is not sent again, and nothing is stored'],
  [/^POST \/api\/v1\/(?:auth\/login|enroll\/auto) tenantId$/, BEFORE_SIGN_IN],
  [/^POST \/oauth\/\w+ client(?:Id|_id)$/, BEFORE_SIGN_IN],
  [/enroll\/auto sid$/, "the person's identifier in Windows"],
  [/sso-configs\S* (?:clientId|idpEntityId|entityId)$/, AT_A_PROVIDER],
  [/directory-sources\S* (?:config\.directoryId|config\.clientId|groupIds)$/, 'names at the directory'],
  [/log-destinations\S* config\.accessKeyId$/, 'a name at the object storage'],
  [/extension-monitoring\/whitelist\S* extensionId$/, 'of an extension store; it may be installed nowhere yet'],
  [
    /^POST \/api\/v1\/ext\/screenshots eventId$/,
    'an observation of the device, which test/app/http/screenshots checks',
  ],
];
