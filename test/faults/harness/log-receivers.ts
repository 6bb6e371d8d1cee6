import { startElasticsearch, startHttpSink, startSplunk, startSyslog } from '../../dsl/log-sinks.ts';
import { ask } from './ask.ts';
import type { Installation } from './installation.ts';

const DESTINATIONS = '/api/v1/admin/integrations/log-destinations';
const TOKEN = 'a-token-of-the-receiver';
const INDEX = 'castellan';

/** A destination of logs, and the ids of the records that it got, in the order of arrival. */
export interface LogReceiver {
  readonly name: string;
  readonly ids: () => string[];
  readonly close: () => Promise<void>;
}

interface Arrived {
  readonly id: string;
}

const idOf = (record: unknown): string => (record as Arrived).id;
const textAfterHeader = (message: string): string => message.slice(message.indexOf('{'));

/** Five destinations of the installation's tenant, which get every record about alerts. */
export async function startLogReceivers(installation: Installation): Promise<LogReceiver[]> {
  const [plain, second, splunk, elasticsearch, webhook] = await Promise.all([
    startSyslog(),
    startSyslog(),
    startSplunk(TOKEN),
    startElasticsearch(TOKEN, INDEX),
    startHttpSink(),
  ]);
  const headers = await installation.provenHeaders();
  const add = async (type: string, config: object, name: string) => {
    const { status, text } = await ask(installation.api.url + DESTINATIONS, {
      method: 'POST',
      headers,
      body: { name, type, format: 'json', eventTypes: ['alert'], config },
    });
    if (status !== 201) throw new Error(`no destination ${name}: ${status} ${text}`);
  };
  const syslog = (port: number) => ({ host: '127.0.0.1', port, protocol: 'tcp', facility: 'local0' });
  await add('syslog', syslog(plain.port), 'syslog');
  await add('syslog', syslog(second.port), 'second syslog');
  await add('splunk_hec', { url: splunk.url, token: TOKEN }, 'Splunk');
  await add('elasticsearch', { url: elasticsearch.url, index: INDEX, apiKey: TOKEN }, 'Elasticsearch');
  await add('webhook', { url: webhook.url }, 'webhook');
  const lines = (body: string) => body.split('\n').filter((line) => line !== '');
  return [
    {
      name: 'syslog',
      ids: () => plain.received.map((text) => idOf(JSON.parse(textAfterHeader(text)))),
      ...ends(plain),
    },
    {
      name: 'second syslog',
      ids: () => second.received.map((text) => idOf(JSON.parse(textAfterHeader(text)))),
      ...ends(second),
    },
    { name: 'Splunk', ids: () => splunk.events.map(({ event }) => idOf(event)), ...ends(splunk) },
    { name: 'Elasticsearch', ids: () => [...elasticsearch.documents.values()].map(idOf), ...ends(elasticsearch) },
    {
      name: 'webhook',
      ids: () => webhook.received.flatMap(({ body }) => lines(body).map((line) => idOf(JSON.parse(line)))),
      ...ends(webhook),
    },
  ];
}

const ends = (peer: { close(): Promise<void> }) => ({ close: () => peer.close() });
