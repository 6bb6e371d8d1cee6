import { SOCKET_PORT } from './socket-directory.ts';

/**
 * For a machine with two cores and a few gigabytes that also runs the service. Durability is PostgreSQL's default:
 * acknowledged commits are on the disk.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  // A socket in a private folder is the only access.
  listen_addresses: '',
  port: String(SOCKET_PORT),
  unix_socket_permissions: '0700',
  max_connections: '100',

  // Holds the most used part of the log and read models; the operating system's cache holds the rest.
  shared_buffers: '256MB',
  effective_cache_size: '1GB',
  maintenance_work_mem: '128MB',
  // Read models sort and hash a page or a day of rows, not more.
  work_mem: '8MB',

  // Many appends: fewer checkpoints over longer intervals write fewer full pages, and compress them.
  max_wal_size: '2GB',
  min_wal_size: '256MB',
  checkpoint_timeout: '15min',
  wal_compression: 'pglz',

  // Queries are short: compiling or parallelizing them costs more than it saves.
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  // Assumes solid-state disks.
  random_page_cost: '1.1',

  timezone: 'UTC',
  log_timezone: 'UTC',
  // Events of the server are logged, errors of statements are not (ERROR ranks below LOG here): the caller gets them,
  // and they may quote values that must not be logged.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
};

/** For temporary clusters of tests: nothing needs to survive a power failure. */
const THROWAWAY: Readonly<Record<string, string>> = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  shared_buffers: '128MB',
  // Several applications share one cluster at a time.
  max_connections: '400',
};

export function serverArguments(cluster: string, socketDirectory: string, durable: boolean): string[] {
  const settings = { ...SETTINGS, ...(durable ? {} : THROWAWAY), unix_socket_directories: quoted(socketDirectory) };
  return ['-D', cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/** The setting is a list, so a comma in a path must be quoted. */
const quoted = (folder: string): string => `"${folder.replaceAll('"', '""')}"`;
