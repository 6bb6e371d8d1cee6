import { z } from 'zod';
import { createPolicy } from '../../../../../commands/policies/create-policy.ts';
import { deletePolicy } from '../../../../../commands/policies/delete-policy.ts';
import { updatePolicy } from '../../../../../commands/policies/update-policy.ts';
import { engineConfig } from '../../../../../queries/policies/engine-config.ts';
import { getPolicy, viewOfNewPolicy } from '../../../../../queries/policies/get-policy.ts';
import { groupIdsOfUser } from '../../../../../queries/policies/group-ids-of-user.ts';
import { listPolicies } from '../../../../../queries/policies/list-policies.ts';
import { policyView } from '../../../../../queries/policies/policy-view.ts';
import { exactHost } from '../../../../platform/web-addresses/host-field.ts';
import { canonicalHost } from '../../../../contexts/policies/domain/engine/host.ts';
import { PolicyEngine } from '../../../../contexts/policies/domain/engine/policy-engine.ts';
import { conditions, ruleActions } from '../../../../contexts/policies/domain/events.ts';
import {
  newPolicy,
  policyChanges,
  policyDraft,
  type PolicyDraft,
} from '../../../../contexts/policies/domain/policy-content.ts';
import { policyContentOf } from '../../../../contexts/policies/domain/policy.ts';
import { extensionModes } from '../../../../contexts/settings/domain/tenant-settings.resource.ts';
import type { EnginePolicy } from '../../../../contexts/policies/domain/engine/encounter.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { admin } from '../../access.ts';
import { route, type RouteGroup } from '../../route.ts';

const base = '/api/v1/admin/policies';
const LONGEST_HOST = 1_000;
const consideredView = z.object({
  policyId: z.uuid().nullable(),
  policyName: z.string(),
  ruleIndex: z.int(),
  outcome: z.enum(['decided', 'no_such_signal', 'other_group']),
});
const decisionView = z.object({
  matched: z.boolean(),
  effectiveAction: z.enum(ruleActions),
  policyAction: z.enum(ruleActions).nullable(),
  matchedPolicyId: z.uuid().nullable(),
  matchedPolicyName: z.string().nullable(),
  matchedRuleIndex: z.int().nullable(),
  message: z.string().nullable(),
  extensionMode: z.enum(extensionModes),
  reason: z.enum(['rule', 'mode', 'no_signal', 'excluded_domain']),
  trace: z.object({ ignoredSignals: z.array(z.enum(conditions)), considered: z.array(consideredView) }),
});
const testedHost = z
  .string()
  .max(LONGEST_HOST)
  .transform((text, context) => {
    const host = canonicalHost(text);
    // A URL also has hosts like `..` and `-`, which no site can have.
    if (host !== undefined && exactHost(host) !== undefined) return host;
    context.addIssue({ code: 'custom', message: 'must be a host name' });
    return z.NEVER;
  });
/** Evaluated before every stored policy, regardless of its own priority (choice OP-111). */
const inFront = (draft: PolicyDraft): EnginePolicy => ({ ...draft, id: null, priority: -1, createdAt: '' });

const params = z.object({ policyID: uuid() });

export const policyRoutes: RouteGroup = {
  area: 'policies',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: admin('policies:read'),
      summary: 'List policies',
      description: 'Returns all of them, in the order of evaluation.',
      response: z.object({ policies: z.array(policyView), total: z.int() }),
      handle: ({ ask }) => ask(listPolicies, undefined),
    }),
    route({
      method: 'POST',
      path: base,
      access: admin('policies:write'),
      summary: 'Create a policy',
      refuses: ['already_exists'],
      body: newPolicy,
      status: 201,
      response: policyView,
      tagged: policyContentOf,
      handle: async ({ run, created, body }) => {
        const executed = await run(createPolicy, body);
        return created(executed, getPolicy, executed.result, viewOfNewPolicy(executed.result.policyId));
      },
    }),
    route({
      method: 'POST',
      path: `${base}/test`,
      access: admin('policies:test'),
      summary: 'Test the policies against an encounter',
      description: 'Evaluates an unsaved draft, if given, before the stored policies. Stores nothing.',
      body: z.object({
        domain: testedHost,
        signals: z.array(z.enum(conditions)).max(conditions.length).default([]),
        userId: uuid().nullish(),
        extensionMode: z.enum(extensionModes).nullish(),
        policy: policyDraft.nullish(),
      }),
      response: decisionView,
      handle: async ({ ask, body: { domain: host, signals, userId, extensionMode, policy } }) => {
        const groupIds = userId ? await ask(groupIdsOfUser, { userId }) : [];
        const stored = await ask(engineConfig, undefined);
        const policies = policy ? [inFront(policy), ...stored.policies] : stored.policies;
        const engine = new PolicyEngine({ ...stored, policies, mode: extensionMode ?? stored.mode });
        const encounter = { host, signals, groupIds };
        return { ...engine.decide(encounter), trace: engine.trace(encounter) };
      },
    }),
    route({
      method: 'GET',
      path: `${base}/{policyID}`,
      access: admin('policies:read'),
      summary: 'Get a policy',
      params,
      response: policyView,
      tagged: policyContentOf,
      handle: ({ ask, params: { policyID } }) => ask(getPolicy, { policyId: policyID }),
    }),
    route({
      method: 'PUT',
      path: `${base}/{policyID}`,
      access: admin('policies:write'),
      summary: 'Change a policy',
      refuses: ['already_exists'],
      description: 'Fields that are left out keep their values.',
      params,
      body: policyChanges,
      response: policyView,
      tagged: policyContentOf,
      handle: async ({ run, ask, params: { policyID: policyId }, body }) => {
        await run(updatePolicy, { policyId, changes: body });
        return ask(getPolicy, { policyId });
      },
    }),
    route({
      method: 'DELETE',
      path: `${base}/{policyID}`,
      access: admin('policies:write'),
      summary: 'Delete a policy',
      tagged: policyContentOf,
      params,
      handle: async ({ run, params: { policyID: policyId } }) => {
        await run(deletePolicy, { policyId });
      },
    }),
  ],
};
