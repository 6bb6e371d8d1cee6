import { z } from 'zod';
import { createPolicy } from '../../../commands/policies/create-policy.ts';
import { deletePolicy } from '../../../commands/policies/delete-policy.ts';
import { updatePolicy } from '../../../commands/policies/update-policy.ts';
import { getPolicy } from '../../../queries/policies/get-policy.ts';
import { listPolicies } from '../../../queries/policies/list-policies.ts';
import { policyView } from '../../../queries/policies/policy-view.ts';
import { newPolicy, policyChanges } from '../../domain/policies/policy-content.ts';
import { uuid } from '../../kernel/ids.ts';
import { admin } from '../access.ts';
import { route, type RouteGroup } from '../route.ts';

const base = '/api/v1/admin/policies';
const params = z.object({ policyID: uuid() });

export const policyRoutes: RouteGroup = {
  area: 'policies',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: admin('policies:read'),
      summary: 'Every policy, in the order of evaluation',
      answer: z.object({ policies: z.array(policyView), total: z.int() }),
      handle: ({ ask }) => ask(listPolicies, undefined),
    }),
    route({
      method: 'POST',
      path: base,
      access: admin('policies:write'),
      summary: 'Create a policy',
      body: newPolicy,
      status: 201,
      answer: policyView,
      handle: async ({ run, ask, body, principal, reply }) => {
        const { result } = await run(createPolicy, body);
        if (!reply.hasHeader('x-stale')) return ask(getPolicy, result);
        // The read side is behind, but what was created is there: the decision itself is the answer.
        const now = new Date().toISOString();
        return { id: result.policyId, ...body, version: 1, createdBy: principal.adminId, createdAt: now, updatedAt: now };
      },
    }),
    route({
      method: 'GET',
      path: `${base}/{policyID}`,
      access: admin('policies:read'),
      summary: 'One policy',
      params,
      answer: policyView,
      handle: ({ ask, params: { policyID } }) => ask(getPolicy, { policyId: policyID }),
    }),
    route({
      method: 'PUT',
      path: `${base}/{policyID}`,
      access: admin('policies:write'),
      summary: 'Change a policy; what is left out stays',
      params,
      body: policyChanges,
      answer: policyView,
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
      params,
      handle: async ({ run, params: { policyID: policyId } }) => {
        await run(deletePolicy, { policyId });
      },
    }),
  ],
};
