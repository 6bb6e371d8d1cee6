const PART = /^(\d*)(.*)$/s;

/**
 * Compares versions of extensions part by part as numbers of any length; a missing part is 0. Text behind a number
 * marks a pre-release, so `1.2b1` comes before `1.2`. Different texts are never equal: `1.0` comes before `1.00`.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a.split('.'), b.split('.')];
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const order = compareParts(left[at] ?? '', right[at] ?? '');
    if (order !== 0) return order;
  }
  return byText(a, b);
}

/** The greatest version; undefined for an empty list. */
export const newestVersion = (versions: readonly string[]): string | undefined =>
  versions.reduce<string | undefined>(
    (newest, one) => (newest === undefined || compareVersions(one, newest) > 0 ? one : newest),
    undefined,
  );

function compareParts(a: string, b: string): number {
  const [, numberA = '', restA = ''] = PART.exec(a)!;
  const [, numberB = '', restB = ''] = PART.exec(b)!;
  const [digitsA, digitsB] = [withoutZeros(numberA), withoutZeros(numberB)];
  const order = digitsA.length - digitsB.length || byText(digitsA, digitsB);
  if (order !== 0 || restA === restB) return order;
  if (restA === '') return 1;
  return restB === '' ? -1 : byText(restA, restB);
}

const withoutZeros = (digits: string): string => digits.replace(/^0+/, '');
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
