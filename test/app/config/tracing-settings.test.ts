import { rmSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { examination } from '../../../src/app/cli/doctor.ts';
import { readConfig } from '../../../src/app/config/config.ts';
import { tracingSettings } from '../../../src/app/config/tracing-settings.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

const dataDir = scratchFolder('tracing-settings');
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const read = (env: NodeJS.ProcessEnv) => () => readConfig({ DATA_DIR: dataDir, ...env });

/** What the libraries would replace by a default without a word. */
const WRONG: Readonly<Record<string, readonly string[]>> = {
  ENDPOINT: ['nonsense', 'collector:4318', 'ftp://collector', 'http://user:password@collector', 'http://collector:0'],
  HEADERS: ['nonsense', 'a=%zz', 'a b=c', '=c', 'a=', 'a=%0Ab', 'a=b,c'],
  TIMEOUT: ['0', '-1', '10s'],
  COMPRESSION: ['brotli'],
  CERTIFICATE: ['/nowhere', '/etc/hostname'],
  CLIENT_CERTIFICATE: ['/nowhere'],
  CLIENT_KEY: ['/etc/hostname'],
  OTEL_RESOURCE_ATTRIBUTES: ['nonsense', 'a=b=c', 'a=%zz', `a=${'b'.repeat(256)}`],
  OTEL_TRACES_SAMPLER: ['sometimes'],
  OTEL_TRACES_SAMPLER_ARG: ['2', '-0.1', 'half'],
  OTEL_BSP_SCHEDULE_DELAY: ['soon'],
  OTEL_BSP_MAX_QUEUE_SIZE: ['0'],
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: ['many'],
  OTEL_BSP_EXPORT_TIMEOUT: ['1.5'],
  OTEL_SDK_DISABLED: ['yes'],
};
const wrongOf = (name: string): readonly string[] =>
  WRONG[name] ?? WRONG[name.replace(/^OTEL_EXPORTER_OTLP_(?:TRACES_)?/, '')] ?? [];

describe('variables of OpenTelemetry', () => {
  it.each(tracingSettings.filter((name) => name !== 'OTEL_SERVICE_NAME'))('are refused by name: %s', (name) => {
    expect(wrongOf(name)).not.toEqual([]);
    for (const value of wrongOf(name)) expect(read({ [name]: value })).toThrow(new RegExp(`^${name} (?:must|names)`));
  });

  it('are refused beside other settings', () => {
    expect(read({ PORT: 'abc', OTEL_EXPORTER_OTLP_ENDPOINT: 'nonsense' })).toThrow(
      /^2 settings are wrong:\n {2}PORT must .*\n {2}OTEL_EXPORTER_OTLP_ENDPOINT must /,
    );
  });

  it('are found by castellan doctor', async () => {
    const { outcome, checks } = await examination({
      DATA_DIR: dataDir,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'nonsense',
    });
    expect([outcome, checks]).toMatchObject([
      'usage',
      [{ message: expect.stringMatching(/^OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must /) as string }],
    ]);
  });

  it('are accepted as the standard has them', () => {
    const right = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector.example/v1/traces?team=a',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20YTpi==, x-team=a,',
      OTEL_EXPORTER_OTLP_TIMEOUT: '10000',
      OTEL_SERVICE_NAME: 'castellan of a company',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=production,note=a%2Cb%3Dc d',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      OTEL_SDK_DISABLED: 'TRUE',
    };
    expect(read(right)).not.toThrow();
    for (const share of ['0', '1', '1.0', '.5']) expect(read({ OTEL_TRACES_SAMPLER_ARG: share })).not.toThrow();
  });
});
