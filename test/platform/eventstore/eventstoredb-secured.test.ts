import { once, type EventEmitter } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/platform/config-error.ts';
import { eventStoreUrl } from '../../../src/app/config/config.ts';
import {
  openAdministration,
  type Administrator,
} from '../../../src/platform/eventstore/eventstoredb/administration.ts';
import { EventStoreDbEventStore } from '../../../src/platform/eventstore/eventstoredb/eventstoredb-event-store.ts';
import { EventStoreUnavailable } from '../../../src/platform/eventstore/port.ts';
import { expectOnce, mustAppend, newAppend, newClaim, newTenant } from '../../contracts/event-store/sample.ts';
import { PrivateAuthority } from '../../fixtures/eventstoredb/certificates.ts';
import { EventLog } from '../../fixtures/eventstoredb/event-log.ts';
import { startRelay } from '../../fixtures/eventstoredb/relay.ts';
import { startStandIn, type StandIn, type StandInOptions } from '../../fixtures/eventstoredb/stand-in.ts';

const folder = mkdtempSync(join(tmpdir(), 'castellan-secured-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const authority = new PrivateAuthority();
const server = authority.issue('node', { dns: 'localhost', ip: '127.0.0.1' });
const caFile = file('ca.pem', authority.certificatePem);
const otherCaFile = file('other-ca.pem', new PrivateAuthority().certificatePem);

const PASSWORD = 's3cret:with@signs/and%';
const USERS = {
  admin: { password: 'changeit', isAdmin: true },
  castellan: { password: PASSWORD },
  neighbour: { password: 'other' },
};
const ADMIN = { username: 'admin', password: 'changeit' };
const PATIENT = { timeoutMs: 15_000, callTimeoutMs: 5_000 };
const IMPATIENT = { timeoutMs: 600, callTimeoutMs: 300 };

describe('EventStoreDB adapter on a secured server', () => {
  const nodes: StandIn[] = [];
  const others: { close: () => unknown }[] = [];
  const stores: EventStoreDbEventStore[] = [];
  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
    await Promise.all(nodes.splice(0).map((node) => node.stop()));
    for (const other of others.splice(0)) other.close();
  });

  /** The port of another program. */
  async function listening(other: Pick<Server, 'listen' | 'close' | 'address'> & EventEmitter): Promise<number> {
    others.push(other);
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    return (other.address() as AddressInfo).port;
  }

  async function secured(over: StandInOptions = {}): Promise<StandIn> {
    const node = await startStandIn({ tls: server, users: USERS, ...over });
    nodes.push(node);
    return node;
  }

  const urlOf = (
    { port }: { port: number },
    user: keyof typeof USERS | undefined,
    { host = '127.0.0.1', options = `tlsCAFile=${encodeURIComponent(caFile)}` } = {},
  ) =>
    `esdb://${user ? `${user}:${encodeURIComponent(USERS[user].password)}@` : ''}${host}:${port}${options ? `?${options}` : ''}`;

  function open(url: string, timeoutMs = PATIENT): EventStoreDbEventStore {
    const store = new EventStoreDbEventStore(url, timeoutMs);
    stores.push(store);
    return store;
  }

  const meeting = (url: string, timeoutMs = PATIENT) =>
    open(url, timeoutMs)
      .meet()
      .then(
        () => 'it was well',
        (error: unknown) => error,
      );

  async function expectSentence(url: string, ...parts: readonly (string | RegExp)[]): Promise<void> {
    let error = await meeting(url, IMPATIENT);
    // On a busy machine, a call that would get its response may take longer.
    if (!(error instanceof ConfigError)) error = await meeting(url, PATIENT);
    expect(error).toBeInstanceOf(ConfigError);
    const { message } = error as ConfigError;
    expect(message).not.toContain('\n');
    expect(message).not.toContain(PASSWORD);
    expect(message).not.toContain(encodeURIComponent(PASSWORD));
    expect(message).toMatch(/^EVENTSTORE_(URL|PASSWORD|CA)(_FILE)?\b/);
    for (const part of parts) expect(message).toMatch(part);
  }

  const rights = (
    url: string,
    asked: { grant: boolean; exclusive?: boolean },
    admin: Administrator | 'nobody' = ADMIN,
  ) =>
    openAdministration(url, admin === 'nobody' ? undefined : admin, (administration) =>
      administration.rights({ exclusive: false, ...asked }),
    );

  it('works over TLS with a private authority, as a user with a password of any characters, who was granted the rights', async () => {
    const node = await secured();
    await rights(urlOf(node, 'castellan'), { grant: true });
    const store = open(urlOf(node, 'castellan'));
    await store.meet();
    const tenantId = newTenant();
    const claim = newClaim(tenantId);
    const append = newAppend(tenantId, { claim: [claim] });
    await mustAppend(store, append);
    await expectOnce(store, append);
    await store.setRetention(append.stream, 7);
    expect(node.log.metadataOf(append.stream)).toMatchObject({ $maxAge: 7 * 86_400 });
  });

  it('creates the user of the service once, without rights, as an administrator', async () => {
    const users: NonNullable<StandInOptions['users']> = { admin: USERS.admin, neighbour: USERS.neighbour };
    const node = await secured({ users });
    const create = (admin: typeof ADMIN) =>
      openAdministration(urlOf(node, 'castellan'), admin, (administration) => administration.createUser());
    expect(await create(ADMIN)).toBe('created the user castellan');
    expect(users['castellan']).toEqual({ password: PASSWORD });
    users['castellan'] = { password: 'changed since' };
    expect(await create(ADMIN)).toBe('there is a user castellan, who keeps the password');
    expect(users['castellan']).toEqual({ password: 'changed since' });
    await expect(create({ username: 'neighbour', password: 'other' })).rejects.toThrow(ConfigError);
  });

  it('works as the user that a certificate names', async () => {
    const node = await secured({ tls: { ...server, clientAuthorityPem: authority.certificatePem } });
    const pair = authority.issue('castellan');
    const options = `tlsCAFile=${caFile}&userCertFile=${file('user.crt', pair.certificatePem)}&userKeyFile=${file('user.key', pair.privateKeyPem)}`;
    expect(await rights(urlOf(node, undefined, { options }), { grant: false }, 'nobody')).toEqual({
      lines: ['castellan may not read the log ($all)'],
      isSufficient: false,
    });
    node.log.append('$$$all', -1n, [
      {
        id: 'a',
        type: '$metadata',
        json: true,
        data: Buffer.from(JSON.stringify({ $acl: { $r: ['castellan'] } })),
        metadata: Buffer.alloc(0),
      },
    ]);
    const store = open(urlOf(node, undefined, { options }));
    await store.meet();
    const append = newAppend(newTenant());
    await mustAppend(store, append);
    await expectOnce(store, append);
  });

  it('reads the URL from a file', async () => {
    const node = await secured();
    const url = eventStoreUrl({ EVENTSTORE_URL_FILE: file('url', `${urlOf(node, 'admin')}\n`) });
    expect(await meeting(url!)).toBe('it was well');
    expect(() => eventStoreUrl({ EVENTSTORE_URL_FILE: join(folder, 'nowhere') })).toThrow(
      /EVENTSTORE_URL_FILE names .*nowhere, which cannot be read \(ENOENT\)/,
    );
    expect(() => eventStoreUrl({ EVENTSTORE_URL_FILE: file('wrong', 'hunter2') })).toThrow(
      /^EVENTSTORE_URL_FILE must begin with esdb/,
    );
    expect(() => eventStoreUrl({ EVENTSTORE_URL_FILE: 'a', EVENTSTORE_URL: 'b' })).toThrow(/both set/);
  });

  describe('reports in one sentence', () => {
    it('that the host has no address', () =>
      expectSentence(
        urlOf({ port: 2113 }, 'castellan', { host: 'no-such-host.invalid' }),
        /host name no-such-host\.invalid cannot be resolved: correct it/,
      ));

    it('that nothing listens at the port', async () => {
      const node = await secured();
      await node.stop();
      await expectSentence(
        urlOf(node, 'castellan'),
        new RegExp(`nothing listens at 127\\.0\\.0\\.1:${node.port}: correct host and port`),
      );
    });

    it('that the authority is not trusted', async () => {
      const node = await secured();
      await expectSentence(
        urlOf(node, 'castellan', { options: '' }),
        `127.0.0.1:${node.port}`,
        /not from a public authority: name .* tlsCAFile=/,
      );
      await expectSentence(
        urlOf(node, 'castellan', { options: `tlsCAFile=${otherCaFile}` }),
        /not from the authority of tlsCAFile/,
      );
    });

    it('that the certificate is for another name, or has expired', async () => {
      const elsewhere = await secured({ tls: authority.issue('node', { dns: 'elsewhere.example' }) });
      await expectSentence(urlOf(elsewhere, 'castellan', { host: 'localhost' }), /is not for the name localhost/);
      const expired = await secured({ tls: authority.issue('node', { ip: '127.0.0.1' }, { days: -1 }) });
      await expectSentence(urlOf(expired, 'castellan'), /has expired/);
    });

    it('that one side speaks TLS and the other does not', async () => {
      const plain = await startStandIn();
      nodes.push(plain);
      await expectSentence(urlOf(plain, 'castellan'), /does not speak TLS .* tls=false/);
      await expectSentence(
        urlOf(await secured(), 'castellan', { options: 'tls=false' }),
        /speaks TLS: remove tls=false/,
      );
    });

    it('that the password is wrong', async () => {
      const node = await secured();
      await expectSentence(
        urlOf(node, 'castellan').replace('s3cret', 'guess'),
        `127.0.0.1:${node.port} rejects the user or the password`,
      );
    });

    it('which setting holds the wrong password', async () => {
      const node = await secured();
      const apart = { EVENTSTORE_URL: `esdb://castellan@127.0.0.1:${node.port}`, EVENTSTORE_CA_FILE: caFile };
      await expectSentence(
        urlOf(node, 'castellan').replace('s3cret', 'guess'),
        /^EVENTSTORE_URL: .*: correct user:password@ in it$/,
      );
      await expectSentence(
        eventStoreUrl({
          EVENTSTORE_URL_FILE: file('guessed-url', urlOf(node, 'castellan').replace('s3cret', 'guess')),
        })!,
        /^EVENTSTORE_URL_FILE: .*: correct user:password@ in it$/,
      );
      await expectSentence(
        eventStoreUrl({ ...apart, EVENTSTORE_PASSWORD: 'guess' })!,
        /^EVENTSTORE_PASSWORD: 127\.0\.0\.1:\d+ rejects .*: correct the password in it, or the user in EVENTSTORE_URL$/,
      );
      await expectSentence(
        eventStoreUrl({ ...apart, EVENTSTORE_PASSWORD_FILE: file('guess', 'guess') })!,
        /^EVENTSTORE_PASSWORD_FILE: .*: correct the password in it, or the user in EVENTSTORE_URL$/,
      );
    });

    it('which setting holds the wrong authority', async () => {
      const node = await secured();
      const apart = { EVENTSTORE_URL: urlOf(node, 'castellan', { options: '' }) };
      await expectSentence(
        eventStoreUrl({ ...apart, EVENTSTORE_CA_FILE: otherCaFile })!,
        /^EVENTSTORE_CA_FILE: the certificate of 127\.0\.0\.1:\d+ is not from the authority in it: put the certificate of its authority there$/,
      );
      await expectSentence(
        eventStoreUrl({ ...apart, EVENTSTORE_CA: readFileSync(otherCaFile, 'utf8') })!,
        /^EVENTSTORE_CA: .* is not from the authority in it/,
      );
    });

    it('that a user is missing, or lacks rights', async () => {
      const node = await secured();
      await expectSentence(urlOf(node, undefined), /requires a user: write user:password@/);
      await expectSentence(
        urlOf(node, 'castellan'),
        /the user castellan lacks rights .* "castellan eventstore rights"/,
      );
      const acl = { $acl: { $r: ['castellan'] } };
      node.log.append('$$$all', -1n, [
        { id: 'a', type: '$metadata', json: true, data: Buffer.from(JSON.stringify(acl)), metadata: Buffer.alloc(0) },
      ]);
      const lists = {
        $userStreamAcl: { $r: ['$all'], $w: ['neighbour'], $mr: ['$all'], $mw: ['neighbour'], $d: ['$admins'] },
      };
      node.log.append('$settings', -1n, [
        {
          id: 'b',
          type: 'update-default-acl',
          json: true,
          data: Buffer.from(JSON.stringify(lists)),
          metadata: Buffer.alloc(0),
        },
      ]);
      await expectSentence(
        urlOf(node, 'castellan'),
        /may not write streams, write metadata of streams: run "castellan eventstore rights --grant"/,
      );
    });

    it('that a peer accepts connections and does not respond', async () => {
      const peer = await startRelay();
      await expectSentence(`${peer.connectionString}`, /accepts connections but does not serve requests/);
      await peer.close();
    });

    it.each([
      ['HTTP/1', () => createHttpServer()],
      [
        'a greeting of its own',
        () => createTcpServer((socket) => socket.on('error', () => undefined).end('220 mail\r\n')),
      ],
    ])('that a port speaks %s, with and without TLS in the URL', async (_what, make) => {
      const port = await listening(make());
      for (const options of ['tls=false', ''])
        await expectSentence(
          `esdb://castellan:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}?${options}`,
          `127.0.0.1:${port} is not EventStoreDB, or speaks another protocol: correct the port`,
        );
    });

    it.each([{}, { ALPNProtocols: [] }])('that a port speaks HTTP/1 over TLS: %j', async (over) => {
      const { certificatePem: cert, privateKeyPem: key } = server;
      const port = await listening(createHttpsServer({ cert, key, ...over }));
      await expectSentence(
        urlOf({ port }, 'castellan'),
        `127.0.0.1:${port} is not EventStoreDB, or speaks another protocol: correct the port`,
      );
    });

    it('that a port speaks HTTP/2, and answers no call', async () => {
      const web = createHttp2Server((_request, response) => response.writeHead(404).end());
      const port = await listening(web);
      await expectSentence(
        `esdb://127.0.0.1:${port}?tls=false`,
        `127.0.0.1:${port} is not EventStoreDB, or speaks another protocol: correct the port`,
      );
    });

    it('that no node of a cluster is the leader', async () => {
      const node = await secured();
      node.members = [];
      const port = node.port;
      await expectSentence(
        `esdb://castellan:x@127.0.0.1:${port},localhost:${port}?tlsCAFile=${caFile}&maxDiscoverAttempts=2`,
        /is reachable, but no node is the leader/,
      );
    });

    it.each([
      ['tsl=false', /unknown option "tsl"/],
      ['tls=maybe', /tls to be true or false/],
      ['tlsVerifyCert=false', /tlsVerifyCert=false, which is not supported: .*tlsCAFile=/],
      ['tlsCAFile=/nowhere/ca.pem', /the file \/nowhere\/ca\.pem with tlsCAFile, which cannot be read \(ENOENT\)/],
      [`userCertFile=${caFile}`, /needs userCertFile and userKeyFile together/],
      ['keepAliveInterval=soon', /keepAliveInterval to be a whole number/],
    ])('what is wrong with %s', (options, words) => {
      expect(() => new EventStoreDbEventStore(`esdb://castellan:hunter2@127.0.0.1?${options}`)).toThrow(words);
      expect(() => new EventStoreDbEventStore(`esdb://castellan:hunter2@127.0.0.1?${options}`)).not.toThrow(/hunter2/);
    });
  });

  describe('the rights command', () => {
    it('names missing rights, grants them, and then finds nothing missing', async () => {
      const node = await secured();
      const url = urlOf(node, 'castellan');
      expect(await rights(url, { grant: false }, 'nobody')).toEqual({
        lines: ['castellan may not read the log ($all)'],
        isSufficient: false,
      });
      expect(await rights(url, { grant: true })).toMatchObject({
        isSufficient: true,
        lines: [expect.stringContaining('every right'), expect.stringContaining('every other user of this server')],
      });
      const before = node.log.all.length;
      expect(await rights(url, { grant: true })).toMatchObject({ isSufficient: true });
      expect(node.log.all).toHaveLength(before);
    });

    it('denies other users the streams, and keeps the rights of administrators and named users', async () => {
      const log = new EventLog();
      const lists = { $userStreamAcl: { $r: ['$all', 'auditor'] }, $systemStreamAcl: { $r: ['$admins'] } };
      log.append('$settings', -1n, [
        {
          id: 'b',
          type: 'update-default-acl',
          json: true,
          data: Buffer.from(JSON.stringify(lists)),
          metadata: Buffer.alloc(0),
        },
      ]);
      const node = await secured({ log });
      const append = newAppend(newTenant());
      await rights(urlOf(node, 'castellan'), { grant: true });
      await mustAppend(open(urlOf(node, 'castellan')), append);
      expect(await open(urlOf(node, 'neighbour')).readStream(append.stream)).toHaveLength(1);

      expect(await rights(urlOf(node, 'castellan'), { grant: true, exclusive: true })).toEqual({
        isSufficient: true,
        lines: ['castellan has every right that the service needs'],
      });
      const settings = JSON.parse(log.all.findLast(({ stream }) => stream === '$settings')!.data.toString());
      expect(settings).toEqual({
        $userStreamAcl: {
          $r: ['auditor', '$admins', 'castellan'],
          $w: ['$admins', 'castellan'],
          $mr: ['$admins', 'castellan'],
          $mw: ['$admins', 'castellan'],
          $d: ['$admins'],
        },
        $systemStreamAcl: { $r: ['$admins'] },
      });
      const neighbour = open(urlOf(node, 'neighbour'));
      await expect(neighbour.readStream(append.stream)).rejects.toMatchObject({ type: 'access-denied' });
      await expect(
        neighbour.append(newAppend(newTenant(), { stream: append.stream, expectedRevision: 0n })),
      ).rejects.toMatchObject({ type: 'access-denied' });
      await expectOnce(open(urlOf(node, 'castellan')), append);
    });

    it('writes nothing in a dry run', async () => {
      const node = await secured();
      const before = node.log.all.length;
      await rights(urlOf(node, 'castellan'), { grant: false });
      await meeting(urlOf(node, 'admin'));
      expect(node.log.all).toHaveLength(before);
    });

    it("names the administrator's setting if that is wrong", async () => {
      const node = await secured();
      const asked = rights(urlOf(node, 'castellan'), { grant: true }, { username: 'admin', password: 'guess' });
      await expect(asked).rejects.toThrow(
        /^EVENTSTORE_ADMIN: .* rejects the user or the password: correct user:password in it$/,
      );
      const named = rights(
        urlOf(node, 'castellan'),
        { grant: true },
        { username: 'admin', password: 'guess', setting: 'EVENTSTORE_ADMIN_FILE' },
      );
      await expect(named).rejects.toThrow(/^EVENTSTORE_ADMIN_FILE: /);
    });

    it('says that the user of that setting is no administrator, whatever that user may read', async () => {
      const node = await secured();
      const url = urlOf(node, 'castellan');
      const self = { username: 'castellan', password: PASSWORD };
      const sentence = new RegExp(
        `^EVENTSTORE_ADMIN: the user castellan is no administrator of 127\\.0\\.0\\.1:${node.port}: set a user of the group \\$admins`,
      );
      await expect(rights(url, { grant: true }, self)).rejects.toThrow(sentence);
      await rights(url, { grant: true });
      await expect(rights(url, { grant: false }, self)).rejects.toThrow(sentence);
      await expect(rights(url, { grant: true, exclusive: true }, self)).rejects.toThrow(sentence);
      await expect(openAdministration(url, self, (administration) => administration.createUser())).rejects.toThrow(
        sentence,
      );
    });

    it('blames the URL for what is wrong with the server', async () => {
      const port = await listening(createHttp2Server((_request, response) => response.writeHead(404).end()));
      const asked = rights(urlOf({ port }, 'castellan', { options: 'tls=false' }), { grant: true });
      await expect(asked).rejects.toThrow(/^EVENTSTORE_URL: what listens at .* is not EventStoreDB/);
    });
  });

  it('is unavailable, but not at fault, while one of its rights is revoked', async () => {
    const node = await secured();
    const store = open(urlOf(node, 'admin'));
    await store.meet();
    await store.close();
    const denied = open(urlOf(node, 'castellan'));
    await expect(denied.head()).rejects.toBeInstanceOf(EventStoreUnavailable);
  });
});
