import { SOCKET_PORT } from './socket-directory.ts';

/**
 * For a machine of two cores and a few gigabytes that also runs the service. Durability is PostgreSQL's default: what was
 * acknowledged is on the disk.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  // A socket in a private folder is the only way in.
  listen_addresses: '',
  port: String(SOCKET_PORT),
  unix_socket_permissions: '0700',
  max_connections: '100',

  // The hot part of the log and of the read models fits; the operating system's cache holds the rest.
  shared_buffers: '256MB',
  effective_cache_size: '1GB',
  maintenance_work_mem: '128MB',
  // Read models sort and hash a page or a day, not a warehouse.
  work_mem: '8MB',

  // An append-heavy load: fewer, longer spread checkpoints write fewer full pages, and compressed ones.
  max_wal_size: '2GB',
  min_wal_size: '256MB',
  checkpoint_timeout: '15min',
  wal_compression: 'pglz',

  // Queries are short: compiling them, or spreading one over both cores, costs more than it gives.
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  // Solid-state disks, as good as everywhere.
  random_page_cost: '1.1',

  timezone: 'UTC',
  log_timezone: 'UTC',
  // What happens to the server is logged. What a statement was refused for is not (ERROR ranks below LOG here): it is told to
  // the caller, and may quote a value that belongs in no log.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
};

/** For clusters that are thrown away, in tests: nothing needs to survive a power cut. */
const THROWAWAY: Readonly<Record<string, string>> = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  shared_buffers: '128MB',
  // Several houses at a time live on one.
  max_connections: '200',
};

export function serverArguments(cluster: string, socketDirectory: string, durable: boolean): string[] {
  const settings = { ...SETTINGS, ...(durable ? {} : THROWAWAY), unix_socket_directories: quoted(socketDirectory) };
  return ['-D', cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/** The setting is a list, in which a comma would part two folders. */
const quoted = (folder: string): string => `"${folder.replaceAll('"', '""')}"`;
