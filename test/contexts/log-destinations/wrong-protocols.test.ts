import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { SinkFailed, type Sink } from '../../../src/contexts/log-destinations/sinks/sink.ts';
import { SyslogStreamSink } from '../../../src/contexts/log-destinations/sinks/syslog-stream-sink.ts';
import { numbered } from '../../contracts/log-sink.contract.ts';
import { sinkOf, syslogConfig, webhookConfig } from '../../dsl/log-destination.ts';
import { startHttpSink, startSyslog } from '../../dsl/log-sinks.ts';
import { ownAuthority } from '../../dsl/own-authority.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

const authority = ownAuthority();
const trusted = { caCertificate: authority.cert };

/** Why the sink fails. The end of a connection may be seen by the write or by the confirmation. */
async function failureOf(sink: Sink): Promise<string> {
  const signal = AbortSignal.timeout(20_000);
  try {
    await sink.send([numbered(1)], signal);
    await sink.confirm(signal);
    return 'none';
  } catch (error) {
    return error instanceof SinkFailed ? error.message : `not explained: ${String(error)}`;
  } finally {
    sink.close();
  }
}

async function httpServer(isSecure: boolean): Promise<number> {
  const server = isSecure
    ? createHttpsServer({ key: authority.key, cert: authority.cert })
    : createHttpServer((_request, response) => response.end());
  closing.push(() => new Promise((done) => (server.closeAllConnections(), server.close(done))));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return (server.address() as AddressInfo).port;
}

/** Responds to text as OpenSSL does: with an alert, version 3.1, fatal, `unexpected_message` (RFC 8446 §6). */
async function alertingServer(): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(Buffer.from([21, 3, 1, 0, 2, 2, 10])));
  });
  closing.push(() => new Promise((done) => server.close(done)));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return (server.address() as AddressInfo).port;
}

describe('a destination that speaks another protocol says which', () => {
  it('syslog without TLS to a port with TLS', async () => {
    expect(await failureOf(sinkOf(syslogConfig(await alertingServer(), 'tcp'), trusted))).toBe(
      'it expects TLS at this port: set the protocol to tls',
    );
  });

  it('syslog with TLS to a port that waits for lines of text', async () => {
    const peer = await startSyslog();
    closing.push(() => peer.close());
    const sink = new SyslogStreamSink(syslogConfig(peer.port, 'tls'), {
      connect: async (host, port) => connect(port, host),
      authorities: authority.cert,
      explain: async () => 'explained otherwise',
      connectMs: 300,
    });
    expect(await failureOf(sink)).toBe('it does not respond to TLS: its port may expect plain TCP');
  });

  it('syslog to an HTTP server, in plain text and with TLS', async () => {
    const expected = 'it speaks HTTP at this port, not syslog';
    expect(await failureOf(sinkOf(syslogConfig(await httpServer(false), 'tcp'), trusted))).toBe(expected);
    expect(await failureOf(sinkOf(syslogConfig(await httpServer(true), 'tls'), trusted))).toBe(expected);
  });

  it('syslog with TLS to an HTTP server without', async () => {
    const port = await httpServer(false);
    expect(await failureOf(sinkOf(syslogConfig(port, 'tls'), trusted))).toBe('it does not speak TLS at this port');
  });

  it('HTTPS to a port without TLS', async () => {
    const peer = await startHttpSink();
    closing.push(() => peer.close());
    const { port } = new URL(peer.url);
    expect(await failureOf(sinkOf(webhookConfig(`https://127.0.0.1:${port}`), trusted))).toBe(
      'it does not speak TLS at this port',
    );
  });
});
