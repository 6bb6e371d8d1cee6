import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sendMail, type Mail, type MailServer } from '../../../src/contexts/notifications/email/smtp-sender.ts';
import { guardedConnect } from '../../../src/platform/outbound/guarded-connection.ts';
import { issueServerCertificate, type ServerCertificate } from '../../../src/platform/pki/server-certificate.ts';
import { SMTP_PASSWORD, SMTP_USER, SmtpPeer } from '../../fixtures/smtp-peer.ts';

const mail: Mail = {
  from: 'alerts@acme.example',
  to: 'ann@acme.example',
  subject: '[Castellan] Test',
  text: 'Text\n',
  html: '<p>Text</p>',
  messageId: '<m1@acme.example>',
  thread: '<alert.1@acme.example>',
  isUrgent: false,
};
const login = { username: SMTP_USER, password: SMTP_PASSWORD };
const connect = guardedConnect({ allowPrivate: true });
const never = new AbortController().signal;
const LIMITS = { totalMs: 1_500, silenceMs: 700 };

let certificate: ServerCertificate;
let other: ServerCertificate;
beforeAll(() => {
  const issued = (hostNames: string[]) =>
    issueServerCertificate({ hostNames, ipAddresses: [], now: Date.now(), days: 2 });
  certificate = issued(['localhost']);
  other = issued(['mail.example']);
});

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
const peerWith = async (options: Parameters<typeof SmtpPeer.start>[0] = {}) => {
  const peer = await SmtpPeer.start(options);
  closing.push(() => peer.close());
  return peer;
};
const tlsPeer = (options: Parameters<typeof SmtpPeer.start>[0] = {}, from = certificate) =>
  peerWith({ key: from.privateKeyPem, cert: from.certificatePem, ...options });

const server = (port: number, over: Partial<MailServer> = {}): MailServer => ({
  host: 'localhost',
  port,
  security: 'starttls',
  login: null,
  caCertificate: certificate.certificatePem,
  ...over,
});
const send = (to: MailServer, one: Mail = mail, limits = { totalMs: 10_000, silenceMs: 5_000 }) =>
  sendMail(to, one, connect, never, limits);

describe('a mail server', () => {
  it('gets a message over STARTTLS, with a login, in the envelope of its recipient', async () => {
    const peer = await tlsPeer();
    expect(await send(server(peer.port, { login }))).toEqual({
      kind: 'accepted',
      response: 'accepted by the mail server',
    });
    expect(peer.received).toMatchObject([
      { from: 'alerts@acme.example', to: ['ann@acme.example'], isSecure: true, user: SMTP_USER },
    ]);
  });

  it('gets a message over TLS from the first byte', async () => {
    const peer = await tlsPeer({ secure: true });
    expect(await send(server(peer.port, { security: 'tls', login }))).toMatchObject({ kind: 'accepted' });
    expect(peer.received).toMatchObject([{ isSecure: true, user: SMTP_USER }]);
  });

  it('gets a message without TLS if that was chosen, but no password', async () => {
    const peer = await peerWith({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
    expect(await send(server(peer.port, { security: 'none' }))).toMatchObject({ kind: 'accepted' });
    expect(await send(server(peer.port, { security: 'none', login }))).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('without TLS'),
    });
    expect([peer.received.length, peer.logins]).toEqual([1, 0]);
  });

  it('that offers no STARTTLS gets neither message nor password', async () => {
    const peer = await peerWith({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
    expect(await send(server(peer.port, { login }))).toMatchObject({ kind: 'deferred' });
    expect([peer.received.length, peer.logins]).toEqual([0, 0]);
  });

  it.each([
    ['starttls', 'untrusted', {}, () => certificate],
    ['tls', 'untrusted', { secure: true }, () => certificate],
    ['starttls', 'other_name', {}, () => other],
    ['tls', 'other_name', { secure: true }, () => other],
  ] as const)(
    'with a certificate that does not fit (%s, %s) gets nothing',
    async (security, problem, options, from) => {
      const peer = await tlsPeer(options, from());
      const caCertificate = problem === 'untrusted' ? null : other.certificatePem;
      expect(await send(server(peer.port, { security, login, caCertificate }))).toEqual({
        kind: 'deferred',
        reason: `the certificate of the mail server was not accepted (${problem})`,
      });
      expect([peer.received.length, peer.logins]).toEqual([0, 0]);
    },
  );

  it('that refuses the login defers the message, and its words are not repeated', async () => {
    const peer = await tlsPeer();
    const wrong = { username: SMTP_USER, password: 'a wrong password' };
    expect(await send(server(peer.port, { login: wrong }))).toEqual({
      kind: 'deferred',
      reason: 'the mail server does not accept the user name and password (535)',
    });
    expect(peer.received).toEqual([]);
  });

  it('that knows no login gets no message from somebody who has one', async () => {
    const peer = await tlsPeer({ disabledCommands: ['AUTH'] });
    expect(await send(server(peer.port, { login }))).toMatchObject({ kind: 'deferred' });
    expect(peer.received).toEqual([]);
  });

  it.each([
    ['sender', 'the sender'],
    ['recipient', 'the recipient'],
    ['data', 'the message'],
  ] as const)('that refuses the %s: for now is deferred, for good is final', async (at, words) => {
    const peer = await tlsPeer();
    peer.refusals.push({ at, code: 451 }, { at, code: 550 });
    expect(await send(server(peer.port))).toEqual({
      kind: 'deferred',
      reason: `the mail server asks to try ${words} later (451)`,
    });
    expect(await send(server(peer.port))).toEqual({
      kind: 'refused',
      reason: `the mail server refused ${words} (550)`,
    });
    expect(peer.received).toEqual([]);
  });

  it('that uses greylisting accepts the second attempt, with the same Message-ID', async () => {
    const peer = await tlsPeer();
    peer.refusals.push({ at: 'recipient', code: 450 });
    expect(await send(server(peer.port))).toMatchObject({ kind: 'deferred' });
    expect(await send(server(peer.port))).toMatchObject({ kind: 'accepted' });
    expect(peer.received.map(({ parsed }) => parsed.messageId)).toEqual(['<m1@acme.example>']);
  });
});

describe('something else in place of a mail server', () => {
  const listening = async (onSocket: (socket: Socket) => void): Promise<number> => {
    const sockets = new Set<Socket>();
    const plain: Server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      onSocket(socket);
    });
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    closing.push(
      () =>
        new Promise((resolve) => {
          for (const socket of sockets) socket.destroy();
          plain.close(() => resolve());
        }),
    );
    return (plain.address() as AddressInfo).port;
  };
  const sentTo = async (onSocket: (socket: Socket) => void) =>
    send(server(await listening(onSocket), { host: '127.0.0.1' }), mail, LIMITS);

  it('that says nothing is given up', async () => {
    expect(await sentTo(() => undefined)).toEqual({
      kind: 'deferred',
      reason: 'the mail server did not respond in time',
    });
  });

  it('that says a little now and then is given up too', async () => {
    const outcome = await sentTo((socket) => {
      socket.write('220-hello\r\n');
      const more = setInterval(() => socket.write('220-more\r\n'), 100);
      socket.on('close', () => clearInterval(more));
    });
    expect(outcome).toEqual({ kind: 'deferred', reason: 'the mail server did not respond in time' });
  });

  it('that never ends its line is cut off', async () => {
    let written = 0;
    const outcome = await sentTo((socket) => {
      const chunk = 'x'.repeat(64 * 1024);
      const more = (): void => {
        written += chunk.length;
        if (written < 512 * 1024 * 1024 && socket.write(chunk)) setImmediate(more);
      };
      socket.write('220 ');
      socket.on('drain', more);
      more();
    });
    expect(outcome).toMatchObject({ kind: 'deferred' });
    expect(written).toBeLessThan(64 * 1024 * 1024);
  });

  it('that hangs up, or speaks another protocol, is deferred in our words', async () => {
    const outcomes = [
      await sentTo((socket) => socket.destroy()),
      await sentTo((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
      await sentTo((socket) => socket.end('554 go away <script>\r\n')),
    ];
    for (const outcome of outcomes) {
      expect(outcome.kind).toBe('deferred');
      expect(JSON.stringify(outcome)).not.toMatch(/HTTP|script|go away/);
    }
  });

  it('in a private network is not called, unless it is allowed', async () => {
    const peer = await tlsPeer();
    const guarded = guardedConnect({ allowPrivate: false });
    for (const host of ['127.0.0.1', 'localhost', '169.254.169.254'])
      expect(await sendMail(server(peer.port, { host }), mail, guarded, never)).toEqual({
        kind: 'deferred',
        reason: 'the address is not public',
      });
    expect(peer.received).toEqual([]);
  });

  it('is not waited for after the process is told to stop', async () => {
    const stop = new AbortController();
    const port = await listening(() => setTimeout(() => stop.abort(), 50));
    expect(
      await sendMail(server(port, { host: '127.0.0.1' }), mail, connect, stop.signal, {
        totalMs: 60_000,
        silenceMs: 60_000,
      }),
    ).toMatchObject({ kind: 'deferred' });
  });
});
