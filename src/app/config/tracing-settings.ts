import { z } from 'zod';
import { addressField } from '../../platform/web-addresses/address-field.ts';
import type { GivenSettings, SettingProblems } from './given-settings.ts';
import { requirePem } from './pem-file.ts';
import { httpUrl, wholeNumberFrom } from './setting-types.ts';

/**
 * The standard variables of OpenTelemetry that the service reads. Its libraries read the values themselves
 * (`start-tracing.ts`), and replace a wrong one by the default without a word: spans would go elsewhere, or nowhere.
 */

/** The parts of a list of pairs; undefined for one that the libraries would leave out. */
function pairsIn(text: string): readonly (readonly [name: string, value: string] | undefined)[] {
  const entries = text.split(',').filter((entry) => entry.trim() !== '');
  return entries.map((entry) => {
    const [, name, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/s.exec(entry) ?? [];
    try {
      return name && value ? [decodeURIComponent(name), decodeURIComponent(value)] : undefined;
    } catch {
      return undefined;
    }
  });
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~\da-z-]+$/i;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

const headers = z
  .string()
  .refine((text) => pairsIn(text).every((pair) => pair && HEADER_NAME.test(pair[0]) && HEADER_VALUE.test(pair[1])), {
    error: 'must list headers as name=value, separated by commas, with %2C for a comma in a value and %25 for %',
  });

const LONGEST_ATTRIBUTE = 255;
const attributes = z
  .string()
  .refine(
    (text) =>
      pairsIn(text).every((pair) => pair?.every((part) => part.length <= LONGEST_ATTRIBUTE)) &&
      text.split(',').every((entry) => entry.split('=').length <= 2),
    {
      error: `must list attributes as name=value, separated by commas, each part of at most ${LONGEST_ATTRIBUTE} characters, with %2C for a comma in it, %3D for = and %25 for %`,
    },
  );

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

const share = z.string().refine((text) => text.trim() !== '' && Number(text) >= 0 && Number(text) <= 1, {
  error: 'must be a number from 0 to 1',
});

const text = z.string();
const positive = wholeNumberFrom(1);

/** Of the exporter. Each may also be set for traces alone. */
const EXPORTER = {
  HEADERS: headers,
  TIMEOUT: positive,
  COMPRESSION: z.enum(['none', 'gzip'], { error: 'must be none or gzip' }),
  CERTIFICATE: text,
  CLIENT_CERTIFICATE: text,
  CLIENT_KEY: text,
};

const ofExporter = (prefix: string): Record<string, z.ZodType> =>
  Object.fromEntries(Object.entries(EXPORTER).map(([name, schema]) => [`${prefix}_${name}`, schema]));

const variables: Readonly<Record<string, z.ZodType>> = {
  // The path of traces is appended to it.
  OTEL_EXPORTER_OTLP_ENDPOINT: addressField({ query: false }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl,
  ...ofExporter('OTEL_EXPORTER_OTLP'),
  ...ofExporter('OTEL_EXPORTER_OTLP_TRACES'),
  OTEL_SERVICE_NAME: text,
  OTEL_RESOURCE_ATTRIBUTES: attributes,
  OTEL_TRACES_SAMPLER: z.enum(SAMPLERS, { error: `must be one of ${SAMPLERS.join(', ')}` }),
  OTEL_TRACES_SAMPLER_ARG: share,
  OTEL_BSP_SCHEDULE_DELAY: positive,
  OTEL_BSP_MAX_QUEUE_SIZE: positive,
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: positive,
  OTEL_BSP_EXPORT_TIMEOUT: positive,
  OTEL_SDK_DISABLED: text.regex(/^(?:true|false)$/i, { error: 'must be true or false' }),
};

/** docs/guides/monitoring.md lists them. */
export const tracingSettings: readonly string[] = Object.keys(variables);

const FILES = [
  [/_CERTIFICATE$/, 'CERTIFICATE'],
  [/_CLIENT_KEY$/, 'PRIVATE KEY'],
] as const;

/** Notes each of them that is wrong, also while no receiver is named: it would be wrong once one is. */
export function checkTracing(given: GivenSettings, problems: SettingProblems): void {
  for (const [name, schema] of Object.entries(variables)) {
    const value = given[name];
    if (value === undefined) continue;
    const { error } = schema.safeParse(value);
    if (error) problems.add(`${name} ${error.issues[0]!.message}`);
    const [, kind] = FILES.find(([ending]) => ending.test(name)) ?? [];
    if (kind) problems.of(() => requirePem(name, value, kind));
  }
}
