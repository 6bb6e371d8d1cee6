import { execFile } from 'node:child_process';
import path from 'node:path';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../src/app/http/openapi/document.ts';
import { routeGroups } from '../../src/app/http/routes/index.ts';
import { packagesOf } from '../dsl/installed-packages.ts';
import { scratchFolder } from '../dsl/scratch.ts';

const rules = (name: string) => fileURLToPath(new URL(`../contract-lint/${name}`, import.meta.url));
const linters = packagesOf('test/contract-lint');

const QUIET = { ...process.env, CI: '1', REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

/** What the program prints. Linters exit with 1 if they find something. */
const printed = (program: string, args: readonly string[]): Promise<string> =>
  promisify(execFile)(path.join(linters!, 'node_modules/.bin', program), args, {
    cwd: linters!,
    env: QUIET,
    maxBuffer: 64 * 1024 * 1024,
  }).then(
    ({ stdout }) => stdout,
    (failed: { code?: number; stdout: string; stderr: string }) => {
      if (failed.code === 1) return failed.stdout;
      throw new Error(`${program}: ${failed.stderr}`);
    },
  );

describe.skipIf(!linters)('the description of the API', () => {
  const file = path.join(scratchFolder('contract'), 'openapi.json');
  writeFileSync(file, JSON.stringify(openApiDocument(routeGroups)));

  it('passes redocly lint, without errors and warnings', async () => {
    const report = await printed('redocly', ['lint', '--config', rules('redocly.yaml'), '--format', 'json', file]);
    const { totals, problems } = JSON.parse(report) as { totals: object; problems: unknown[] };
    expect(problems.slice(0, 5)).toEqual([]);
    expect(totals).toEqual({ errors: 0, warnings: 0, ignored: 0 });
  });

  it('passes spectral lint, without a finding of any severity', async () => {
    const report = await printed('spectral', ['lint', '--quiet', '-r', rules('spectral.yaml'), '-f', 'json', file]);
    const findings = JSON.parse(report) as unknown[];
    expect([findings.length, findings.slice(0, 5)]).toEqual([0, []]);
  });
});
