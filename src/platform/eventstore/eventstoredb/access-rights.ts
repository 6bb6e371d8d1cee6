import { randomUUID, X509Certificate } from 'node:crypto';
import { END, type JSONEventData } from '@eventstore/db-client';
import { grpc } from './client-runtime.ts';
import type { ServerSettings } from './connection-string.ts';
import { Deadline } from './deadline.ts';
import type { StoreAccess } from './stream-metadata.ts';

/**
 * The rights that the service's user needs. It deletes no streams: retention and erasure truncate them by their
 * metadata.
 */
export type Right =
  'read the log ($all)' | 'read streams' | 'write streams' | 'read metadata of streams' | 'write metadata of streams';

/**
 * This stream is never written. A write at a revision that the stream does not have is checked for rights first, then
 * fails.
 */
const PROBE = 'castellan-rights';
const NO_SUCH_REVISION = 1_000_000_000_000n;

const ALL_USERS = '$all';
const ADMINS = '$admins';
/** The keys of an access list: read, write, metadata read, metadata write, delete. */
const NEEDED = ['$r', '$w', '$mr', '$mw'] as const;
const ALL_KEYS = [...NEEDED, '$d'] as const;

type AccessList = Readonly<Partial<Record<(typeof ALL_KEYS)[number], string | readonly string[]>>>;
type Json = Readonly<Record<string, unknown>>;

/** The name by which the server identifies this client. */
export function userOf({
  user,
  clientCertificate,
}: Pick<ServerSettings, 'user' | 'clientCertificate'>): string | undefined {
  if (user) return user.username;
  return clientCertificate && /^CN=(.*)$/m.exec(new X509Certificate(clientCertificate.certificate).subject)?.[1];
}

/** Returns the rights that the user lacks. A server without TLS has neither users nor rights. Writes nothing. */
export async function missingRights(
  { reader, writer, patience: timeoutMs }: StoreAccess,
  { tls }: Pick<ServerSettings, 'tls'>,
): Promise<Right[]> {
  if (!tls) return [];
  const deadline = () => new Deadline(timeoutMs);
  const probes: readonly (readonly [Right, () => Promise<unknown>])[] = [
    ['read the log ($all)', () => reader.newest()],
    ['read streams', () => reader.backwards(PROBE, END, 1, deadline())],
    ['write streams', () => writer.write(PROBE, NO_SUCH_REVISION, [jsonEvent('RightsProbed', {})], deadline())],
    ['read metadata of streams', () => reader.backwards(`$$${PROBE}`, END, 1, deadline())],
    [
      'write metadata of streams',
      () => writer.write(`$$${PROBE}`, NO_SUCH_REVISION, [jsonEvent('$metadata', {})], deadline()),
    ],
  ];
  const outcomes = await Promise.all(
    probes.map(([right, probe]) =>
      probe().then(
        () => [],
        (error: unknown) => [denied(error, right)],
      ),
    ),
  );
  return outcomes.flat();
}

function denied(error: unknown, right: Right): Right {
  const { type, code } = error as { type?: unknown; code?: unknown };
  if (type !== 'access-denied' || code === grpc.status.UNAUTHENTICATED) throw error;
  return right;
}

/** Whether users that no access list names can read and write the streams of the service. Needs an administrator. */
export async function isOpenToOthers(admin: StoreAccess): Promise<boolean> {
  const lists = userStreamLists((await lastOf(admin, '$settings')).data);
  return NEEDED.some((key) => named(lists[key] ?? ALL_USERS).includes(ALL_USERS));
}

/**
 * Gives a user the rights that the service needs. Needs an administrator. The access list for streams is the server's
 * default: it applies to every stream of any application that has no list of its own. `exclusive` also removes `$all`
 * from it, so that other users cannot read, write or delete the streams of the service.
 */
export async function grantRights(
  admin: StoreAccess,
  user: string,
  { exclusive }: { readonly exclusive: boolean },
): Promise<void> {
  await change(admin, '$$$all', '$metadata', (metadata) => {
    const acl = (metadata['$acl'] ?? {}) as AccessList;
    return { ...metadata, $acl: { ...acl, $r: withUser(acl.$r ?? ADMINS, user) } };
  });
  await change(admin, '$settings', 'update-default-acl', (settings) => {
    const lists = userStreamLists(settings);
    const next: AccessList = exclusive ? exclusiveLists(lists, user) : widerLists(lists, user);
    return Object.keys(next).length === 0 ? settings : { ...settings, $userStreamAcl: next };
  });
}

/** Only adds the user to lists that exist: a missing list, or one that names `$all`, excludes no user. */
function widerLists(lists: AccessList, user: string): AccessList {
  const present = NEEDED.filter((key) => lists[key] !== undefined);
  return { ...lists, ...Object.fromEntries(present.map((key) => [key, withUser(lists[key]!, user)])) };
}

function exclusiveLists(lists: AccessList, user: string): AccessList {
  const others = (key: keyof AccessList) =>
    withUser(
      named(lists[key] ?? []).filter((name) => name !== ALL_USERS),
      ADMINS,
    );
  return Object.fromEntries(ALL_KEYS.map((key) => [key, key === '$d' ? others(key) : withUser(others(key), user)]));
}

const named = (list: string | readonly string[]): readonly string[] => (typeof list === 'string' ? [list] : list);

/** A list with `$all` already includes the user. */
function withUser(list: string | readonly string[], user: string): string | readonly string[] {
  const names = named(list);
  return names.includes(user) || names.includes(ALL_USERS) ? list : [...names, user];
}

const userStreamLists = (settings: Json): AccessList => (settings['$userStreamAcl'] ?? {}) as AccessList;

async function lastOf(
  { reader, patience: timeoutMs }: StoreAccess,
  stream: string,
): Promise<{ data: Json; revision: bigint }> {
  const [last] = await reader.backwards(stream, END, 1, new Deadline(timeoutMs));
  return { data: (last?.data ?? {}) as Json, revision: last?.revision ?? -1n };
}

/** Appends the changed content of a stream's last event, unless nothing changed. */
async function change(admin: StoreAccess, stream: string, type: string, make: (before: Json) => Json): Promise<void> {
  for (;;) {
    const { data, revision } = await lastOf(admin, stream);
    const next = make(data);
    if (JSON.stringify(next) === JSON.stringify(data)) return;
    const outcome = await admin.writer.write(stream, revision, [jsonEvent(type, next)], new Deadline(admin.patience));
    if (outcome.kind === 'written') return;
  }
}

const jsonEvent = (type: string, data: Json): JSONEventData => ({
  id: randomUUID(),
  contentType: 'application/json',
  type,
  data,
  metadata: undefined,
});
