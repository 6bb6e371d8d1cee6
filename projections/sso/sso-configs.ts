import { ssoEvents, type SsoConfig } from '../../src/contexts/sso/domain/events.ts';
import { managedAfter, type ManagedBy } from '../../src/contexts/sso/domain/managed-by.ts';
import {
  at,
  defineReadModel,
  flag,
  id,
  json,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

type Settings<Config> = Config extends SsoConfig ? Omit<Config, 'configId' | 'secretRef'> : never;

const columns = {
  config_id: id,
  protocol: text as Column<SsoConfig['protocol']>,
  /** The settings that clients may read. */
  settings: json<Settings<SsoConfig>>(),
  secret_configured: flag,
  managed_by: text as Column<ManagedBy>,
  created_at: timestamp,
  updated_at: timestamp,
};
export type SsoConfigRow = Row<{ columns: typeof columns }>;

const described = ({ configId, secretRef, ...settings }: SsoConfig) => ({
  config_id: configId,
  protocol: settings.protocol,
  settings: settings as Settings<SsoConfig>,
  secret_configured: secretRef !== null,
});

/** A tenant's identity providers. Shows whether a secret is set, never its reference. */
export const ssoConfigsModel = defineReadModel({
  name: 'sso_configs',
  version: 4,
  lane: 'main',
  columns,
  key: ['config_id'],
  families: [ssoEvents],
  on: {
    SsoConfigCreated: (event) => ({
      key: { config_id: event.data.configId },
      fold: () => ({
        ...described(event.data),
        managed_by: managedAfter(undefined, event.metadata.actor.kind),
        created_at: at(event),
        updated_at: at(event),
      }),
    }),
    SsoConfigUpdated: (event) => ({
      key: { config_id: event.data.configId },
      fold: (row) =>
        row && {
          ...described(event.data),
          managed_by: managedAfter(row.managed_by, event.metadata.actor.kind),
          created_at: row.created_at,
          updated_at: at(event),
        },
    }),
    SsoConfigDeleted: (event) => ({ key: { config_id: event.data.configId }, fold: () => undefined }),
  },
});
