import { expect, it } from 'vitest';
import { RepeatedWarnings } from '../../../src/platform/observability/repeated-warnings.ts';

it('warns once a minute for each message, and says how many it left out', () => {
  const lines: unknown[] = [];
  let now = 0;
  const warnings = new RepeatedWarnings({ warn: ((...line: unknown[]) => void lines.push(line)) as never }, () => now);
  for (; now < 130_000; now += 1_000) warnings.warn({ lane: 'default' }, 'Redis is away');
  warnings.warn({}, 'another thing');
  expect(lines).toEqual([
    [{ lane: 'default' }, 'Redis is away'],
    [{ lane: 'default', leftOut: 59 }, 'Redis is away'],
    [{ lane: 'default', leftOut: 59 }, 'Redis is away'],
    [{}, 'another thing'],
  ]);
});
