// Stack traces that name places in the sources instead of the bundle. Node does so too, if it is asked to, but reads the map of
// each script at every start: here the first trace does.
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import path from 'node:path';

/** Concerns what `file` runs, which has its map beside itself: `file.map`, with sources relative to its folder. */
export function nameSources(file) {
  let map;
  const lineOf = (site) => {
    if (site.getFileName() !== file) return String(site);
    map ??= mapOf(file);
    const [line, column] = [site.getLineNumber(), site.getColumnNumber()];
    const { originalSource, originalLine, originalColumn } = map.findEntry(line - 1, column - 1);
    if (!originalSource) return String(site);
    const source = path.resolve(file, '..', originalSource);
    const there = `${source}:${originalLine + 1}:${originalColumn + 1}`;
    return String(site).replace(`${file}:${line}:${column}`, () => there);
  };
  Error.prepareStackTrace = (error, sites) =>
    [headOf(error), ...sites.map((site) => `    at ${lineOf(site)}`)].join('\n');
}

/** Without one, places in the bundle are better than no trace: it is removed while a program runs that made no trace. */
function mapOf(file) {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
  } catch {
    return { findEntry: () => ({}) };
  }
}

/** As V8 begins a trace. */
function headOf(error) {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return '<error>';
  }
}
