import { describe, expect, it } from 'vitest';
import { barFormat, progressBar } from '../../../src/app/cli/progress-bar.ts';
import { alignedRows, wrapped } from '../../../src/app/cli/wrapped-text.ts';
import { DemoOutput } from '../../../src/app/demo/demo-output.ts';
import { testTerminal } from '../../dsl/command-line.ts';

// oxlint-disable-next-line no-control-regex -- the escape character is what colours begin with
const COLOURS = /\u001b\[[\d;?]*[a-zA-Z]/g;

describe('a line on a terminal', () => {
  it('breaks between words and keeps its indentation', () => {
    expect(wrapped('  one two three four', 12).split('\n')).toEqual(['  one two', '    three', '    four']);
    expect(wrapped('short', 12)).toBe('short');
    expect(wrapped('no width, as in a pipe', undefined)).toBe('no width, as in a pipe');
  });

  it('keeps a long word whole, because it has to be copied', () => {
    const key = 'k'.repeat(200);
    expect(wrapped(key, 80)).toBe(key);
    expect(wrapped(`License ${key}`, 80)).toBe(`License\n  ${key}`);
  });

  it('does not count colours', () => {
    expect(wrapped('\u001b[32mone\u001b[0m two', 7)).toBe('\u001b[32mone\u001b[0m two');
  });

  it('shows rows in columns', () => {
    expect(
      alignedRows([
        ['ID', 'SLUG'],
        ['1', 'acme'],
      ]),
    ).toEqual(['ID  SLUG', '1   acme']);
  });
});

describe('the progress bar', () => {
  const progress = {
    model: 'organization_directory',
    from: 0n,
    position: 123_456_789n,
    head: 987_654_321n,
    events: 123_456_789,
    elapsedMs: 98_765,
  };

  it.each([20, 40, 60, 79, 80, 100, 132, 240])('fits into %i columns', (columns) => {
    const terminal = testTerminal({ columns });
    const bar = progressBar(terminal, 'organization_directory');
    bar.show(progress);
    expect(bar.stop()).toBe(progress.events);
    const lines = terminal.stderr.text.replaceAll(COLOURS, '\n').split(/[\n\r]/);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
    expect(terminal.stdout.text).toBe('');
  });

  it('leaves figures out before the name', () => {
    expect(barFormat(100).format).toContain('{rate}');
    expect(barFormat(70).format).not.toContain('{rate}');
    expect(barFormat(30).format).toContain('{model}');
  });

  it('is not shown in a pipe', () => {
    const terminal = testTerminal();
    const bar = progressBar(terminal, 'alerts');
    bar.show(progress);
    bar.stop();
    expect(terminal.stderr.text).toBe('');
  });
});

describe('a step of the demo', () => {
  const printed = async (hasColours: boolean) => {
    const lines: string[] = [];
    const output = new DemoOutput({ say: (line) => lines.push(line), hasColours });
    await output.step(
      'sign in',
      () => Promise.resolve(1),
      () => 'with password',
    );
    return lines;
  };

  it('has colours only where the terminal has them', async () => {
    expect((await printed(true))[0]).toMatch(COLOURS);
    expect((await printed(false))[0]).toMatch(/^ {2}✓ sign in +with password \(\d\.\d\d s\)$/);
  });
});
