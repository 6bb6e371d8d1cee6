import type { AgentKeyRow } from '../../projections/devices/agent-keys.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

const SQL = 'select * from agent_keys where tenant_id = $1 and access_key_digest = $2';

/** Asked as the installation: the device that got the key with this digest, if any did. */
export const agentByKey: Query<{ accessKeyDigest: string }, AgentKeyRow | null> = async (reads, { accessKeyDigest }) =>
  (await reads.one<AgentKeyRow>(SQL, [accessKeyDigest])) ?? null;
