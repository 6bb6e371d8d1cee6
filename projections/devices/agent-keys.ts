import { deviceEvents } from '../../src/contexts/devices/domain/events.ts';
import { defineReadModel, id, text, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = { access_key_digest: text, tenant: id, device_id: id };
export type AgentKeyRow = Row<{ columns: typeof columns }>;

/**
 * Maps an agent's access key to tenant and device (choice OP-173), because the key names no tenant. The device's own
 * stream decides whether it is still valid.
 */
export const agentKeys = defineReadModel({
  name: 'agent_keys',
  version: 1,
  lane: 'main',
  scope: 'installation',
  columns,
  key: ['access_key_digest'],
  indexes: [['device_id']],
  families: [deviceEvents],
  on: {
    DeviceAccessKeyIssued: ({ tenantId, data: { accessKeyDigest, deviceId } }) => ({
      key: { access_key_digest: accessKeyDigest },
      fold: () => ({ access_key_digest: accessKeyDigest, tenant: tenantId, device_id: deviceId }),
    }),
    DeviceDeleted: ({ data: { deviceId } }) => ({ purge: { device_id: deviceId } }),
  },
});
