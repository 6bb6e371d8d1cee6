/** Weights of the categories (choice OP-088). They add up to 100. */
export const categories = [
  { category: 'password_hygiene', label: 'Password hygiene', weight: 25 },
  { category: 'breached_passwords', label: 'Breached passwords', weight: 20 },
  { category: 'mfa_adoption', label: 'Multi-factor sign-in', weight: 20 },
  { category: 'device_health', label: 'Device health', weight: 15 },
  { category: 'alert_response', label: 'Alert response', weight: 10 },
  { category: 'policy_coverage', label: 'Policy coverage', weight: 10 },
] as const;
export const categoryNames = categories.map(({ category }) => category);
export type Category = (typeof categories)[number]['category'];

export const grades = ['A', 'B', 'C', 'D', 'F'] as const;
export type Grade = (typeof grades)[number];
const FROM: readonly (readonly [Grade, number])[] = [
  ['A', 90],
  ['B', 80],
  ['C', 70],
  ['D', 60],
  ['F', 0],
];

/** One measurement: `good` out of `of`. With `of` 0 nothing is known, and the score is 100. */
export interface PostureMeasure {
  readonly good: number;
  readonly of: number;
  readonly details: string;
}

export interface PosturePart {
  readonly category: Category;
  readonly label: string;
  /** Integer from 0 to 100. */
  readonly score: number;
  readonly weight: number;
  readonly details: string;
}

export interface Posture {
  /** Weighted mean of the parts' scores, rounded. */
  readonly score: number;
  readonly grade: Grade;
  readonly breakdown: readonly PosturePart[];
}

export function postureOf(measures: Readonly<Record<Category, PostureMeasure>>): Posture {
  const breakdown = categories.map(({ category, label, weight }) => {
    const { good, of, details } = measures[category];
    return { category, label, score: of === 0 ? 100 : Math.round((100 * good) / of), weight, details };
  });
  const score = Math.round(breakdown.reduce((sum, part) => sum + part.score * part.weight, 0) / 100);
  return { score, grade: FROM.find(([, from]) => score >= from)![0], breakdown };
}
