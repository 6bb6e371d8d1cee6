import type { FieldError } from '../../platform/kernel/failure.ts';

/** The text at a path (`config.url`) of a body that its schema may have refused. */
export function textAt(body: unknown, path: string): string | undefined {
  const found = path
    .split('.')
    .reduce<unknown>((at, name) => (at as Readonly<Record<string, unknown>> | null | undefined)?.[name], body);
  return typeof found === 'string' ? found.trim() : undefined;
}

export const isPlain = (address: string): boolean => /^http:/i.test(address);

/** For `judge` of a route: only development mode allows addresses without TLS. */
export const plainAddressesIn = (
  body: unknown,
  paths: readonly string[],
  { devMode }: { readonly devMode: boolean },
): readonly FieldError[] =>
  devMode
    ? []
    : paths
        .filter((path) => isPlain(textAt(body, path) ?? ''))
        .map((field) => ({ field, message: 'must be an https address' }));
