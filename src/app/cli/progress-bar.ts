import { SingleBar } from 'cli-progress';
import type { ReplayProgress } from '../../platform/projector/table-replay.ts';
import type { Terminal } from './terminal.ts';

const NAME = 24;
const BAR = 28;
/** Name, percentage, events, rate and remaining time, with room for large numbers. */
const FIGURES = 48;
const WITHOUT_RATE = 32;

/** What fits into a line: first the bar gets shorter, then figures are left out. A cut line would be repeated at each update. */
export function barFormat(columns: number): {
  readonly format: string;
  readonly barsize: number;
  /** Letters of the model's name. */
  readonly name: number;
} {
  const barsize = (rest: number) => Math.min(BAR, columns - 1 - rest);
  if (barsize(NAME + FIGURES) >= 10)
    return {
      format: '  {model} {bar} {percentage}%  {events} events  {rate}/s  {left} left',
      barsize: barsize(NAME + FIGURES),
      name: NAME,
    };
  if (barsize(NAME + WITHOUT_RATE) >= 8)
    return {
      format: '  {model} {bar} {percentage}%  {events} events',
      barsize: barsize(NAME + WITHOUT_RATE),
      name: NAME,
    };
  return { format: '{model} {percentage}%', barsize: 1, name: Math.min(NAME, columns - 6) };
}

export interface ProgressBar {
  show(progress: ReplayProgress): void;
  /** Returns the number of events that were folded. */
  stop(): number;
}

/**
 * A bar with rate and remaining time, on standard error. Without a terminal nothing is shown. Positions count events only
 * on PostgreSQL; elsewhere they show progress.
 */
export function progressBar({ stderr }: Terminal, model: string): ProgressBar {
  const { format, barsize, name } = barFormat(stderr.columns ?? 80);
  const bar = new SingleBar({
    format,
    barsize,
    stream: stderr as NodeJS.WriteStream,
    hideCursor: true,
    clearOnComplete: false,
  });
  let started = false;
  let folded = 0;
  return {
    show: ({ from, position, head, events, elapsedMs }) => {
      folded = events;
      const total = Number(head - from) || 1;
      const done = Math.min(Number(position - from), total);
      const rate = Math.round((events * 1000) / Math.max(1, elapsedMs));
      const left = `${Math.max(0, Math.ceil(((total - done) / Math.max(1, done)) * (elapsedMs / 1000)))} s`;
      const payload = { model: model.slice(0, name).padEnd(name), events, rate, left };
      if (!stderr.isTTY) return;
      if (started) bar.update(done, payload);
      else bar.start(total, done, payload);
      started = true;
      bar.setTotal(total);
    },
    stop: () => {
      if (started) bar.stop();
      return folded;
    },
  };
}
