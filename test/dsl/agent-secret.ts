import type { TestTenant } from './app.ts';

/** A new auto-enrollment secret of the tenant; the previous ones remain valid for `overlapHours`. */
export async function agentSecretOf({ admin }: TestTenant, overlapHours?: number): Promise<string> {
  const answer = await admin.post('/api/v1/admin/enrollment/agent-secret', { overlapHours });
  if (answer.status !== 201) throw new Error(`no agent secret: ${answer.status} ${answer.text}`);
  return answer.body.secret as string;
}
