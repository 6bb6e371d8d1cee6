import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { secretSettings, settingNames } from '../../src/app/config/environment.ts';
import { tracingSettings } from '../../src/app/config/tracing-settings.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** A convention of terminals (https://no-color.org), not a setting of this application. */
const OF_THE_TERMINAL = ['NO_COLOR'];

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

const sourcesBelow = (folder: string): string[] =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => path.join(folder, file));

/** The names in the first column of the table below `## Configuration`. */
const described = (readme: string): string[] =>
  (/^## Configuration$([^]*?)^## /m.exec(readme)?.[1] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...line.split('|')[1]!.matchAll(/`([A-Z][A-Z0-9_]*)`/g)].map(([, name]) => name!));

/** Ids of keys that are no secrets. */
const PUBLIC_IDS = ['APNS_KEY_ID'];

describe('settings', () => {
  it('are listed in the README, each once: exactly those that are read', () => {
    expect(described(read('README.md')).sort()).toEqual([...settingNames].sort());
  });

  it('of OpenTelemetry are listed in the guide to monitoring: exactly those that are checked', () => {
    const listed = [...read('docs/guides/monitoring.md').matchAll(/`(OTEL_[A-Z_]+)`/g)].map(([, name]) => name!);
    expect([...new Set(listed)].toSorted()).toEqual(tracingSettings.toSorted());
  });

  it('are declared as secrets, which may come from files, if their names say so; the README lists these', () => {
    const looksSecret = settingNames.filter(
      (name) => /(KEY|KEY_ID|SECRET|PASSWORD|TOKEN)$/.test(name) || /^(DATABASE|EVENTSTORE|REDIS)_URL$/.test(name),
    );
    expect(looksSecret.filter((name) => !secretSettings.includes(name))).toEqual(PUBLIC_IDS);
    const listed = /^\*\*Secrets in files\.\*\*([^]*?)\n\n/m.exec(read('README.md'))?.[1] ?? '';
    expect(
      [...listed.matchAll(/`([A-Z0-9_]+)`/g)]
        .map(([, name]) => name!)
        .filter((name) => !name.endsWith('_FILE'))
        .sort(),
    ).toEqual([...secretSettings].sort());
  });

  it('are the only variables that the service reads by name', () => {
    const named = sourcesBelow('src').flatMap((file) =>
      [...read(file).matchAll(/\benv(?:\['|\.)([A-Z][A-Z0-9_]*)/g)].map(([, name]) => name!),
    );
    expect(named).toContain('DATA_DIR');
    const elsewhere = (name: string) => OF_THE_TERMINAL.includes(name) || tracingSettings.includes(name);
    expect(named.filter((name) => !settingNames.includes(name) && !elsewhere(name))).toEqual([]);
  });
});
