import type { AgentKeyRow } from '../../projections/devices/agent-keys.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

const SQL = 'select * from agent_keys where tenant_id = $1 and access_key_digest = $2';

/** Runs as the installation. Returns the device whose key has this digest, or null. */
export const agentByKey: Query<{ accessKeyDigest: string }, AgentKeyRow | null> = async (reads, { accessKeyDigest }) =>
  (await reads.one<AgentKeyRow>(SQL, [accessKeyDigest])) ?? null;
