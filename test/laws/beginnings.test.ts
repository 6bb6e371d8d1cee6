import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { AnyCommand } from '../../src/platform/kernel/command.ts';
import { system } from '../../src/platform/kernel/actor.ts';
import { asTenantId } from '../../src/platform/kernel/ids.ts';

const TENANT = asTenantId('00000000-0000-4000-8000-000000000001');
const COMMAND = '00000000-0000-4000-8000-00000000c0de';

const isCommand = (value: unknown): value is AnyCommand =>
  typeof value === 'object' && value !== null && 'decide' in value && 'stream' in value && 'aggregate' in value;

async function allCommands(): Promise<AnyCommand[]> {
  const files = readdirSync('commands', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const modules = await Promise.all(
    files.map((name) => import(pathToFileURL(join('commands', name)).href) as Promise<Record<string, unknown>>),
  );
  return [...new Set(modules.flatMap((module) => Object.values(module)).filter(isCommand))];
}

/** The stream of a command for an empty input; undefined if the input names the stream. */
function streamOf({ stream }: AnyCommand): string | undefined {
  try {
    return stream(
      {},
      { tenantId: TENANT, id: COMMAND, now: 0, actor: system('test'), correlationId: COMMAND, causationId: COMMAND },
    ) as string;
  } catch {
    return undefined;
  }
}

describe('commands', () => {
  it('whose stream has the id of the command do not look for earlier events in it', async () => {
    const own = (await allCommands()).filter((command) => streamOf(command)?.includes(COMMAND));
    expect(own.length).toBeGreaterThan(5);
    expect(own.filter(({ begins }) => !begins).map(({ name }) => name)).toEqual([]);
  });
});
