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
/** In learning mode no policy acts, so the score stays below an A. */
const MAX_IN_LEARNING_MODE = 89;
/** The categories with data must weigh this much together. */
const ENOUGH = 50;

/** One measurement: `good` out of `of`. With `of` 0 nothing is known. */
export interface PostureMeasure {
  readonly good: number;
  readonly of: number;
  readonly details: string;
}

export interface PosturePart {
  readonly category: Category;
  readonly label: string;
  /** Integer from 0 to 100; null: nothing was measured. */
  readonly score: number | null;
  readonly weight: number;
  readonly details: string;
}

export interface Posture {
  /** Weighted mean of the parts that have a score, rounded; null: they weigh too little together. */
  readonly score: number | null;
  readonly grade: Grade | null;
  /** Why the score is lower than the mean, or missing. */
  readonly limitedBy: 'not_enough_data' | 'learning_mode' | null;
  readonly breakdown: readonly PosturePart[];
}

export function postureOf(
  measures: Readonly<Record<Category, PostureMeasure>>,
  { isLearning }: { readonly isLearning: boolean },
): Posture {
  const breakdown = categories.map(({ category, label, weight }) => {
    const { good, of, details } = measures[category];
    return { category, label, score: of === 0 ? null : Math.round((100 * good) / of), weight, details };
  });
  const known = breakdown.flatMap(({ score, weight }) => (score === null ? [] : [{ score, weight }]));
  const weight = known.reduce((sum, part) => sum + part.weight, 0);
  if (weight < ENOUGH) return { score: null, grade: null, limitedBy: 'not_enough_data', breakdown };
  const mean = Math.round(known.reduce((sum, part) => sum + part.score * part.weight, 0) / weight);
  const score = isLearning ? Math.min(mean, MAX_IN_LEARNING_MODE) : mean;
  const grade = FROM.find(([, from]) => score >= from)![0];
  return { score, grade, limitedBy: score < mean ? 'learning_mode' : null, breakdown };
}
