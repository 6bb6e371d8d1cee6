import { describe, expect, it } from 'vitest';
import {
  categories,
  postureOf,
  type Category,
  type PostureMeasure,
} from '../../../src/contexts/dashboard/domain/posture-score.ts';

const measures = (good: Partial<Record<Category, number>>) =>
  Object.fromEntries(
    categories.map(({ category }): [Category, PostureMeasure] => [
      category,
      { good: good[category] ?? 0, of: category in good ? 100 : 0, details: '' },
    ]),
  ) as Record<Category, PostureMeasure>;
const all = Object.fromEntries(categories.map(({ category }) => [category, 100])) as Record<Category, number>;
const acting = { isLearning: false };

describe('the security posture', () => {
  it('is missing if too little is known, however good that is', () => {
    const known = measures({ device_health: 100, policy_coverage: 0 });
    const { score, grade, limitedBy, breakdown } = postureOf(known, { isLearning: true });
    expect([score, grade, limitedBy]).toEqual([null, null, 'not_enough_data']);
    expect(breakdown.map((part) => part.score)).toEqual([null, null, null, 100, null, 0]);
  });

  it('is the mean of what is known', () => {
    const { password_hygiene, breached_passwords } = { password_hygiene: 80, breached_passwords: 60 };
    const known = measures({ password_hygiene, breached_passwords, device_health: 100 });
    // (80 × 25 + 60 × 20 + 100 × 15) / 60
    expect(postureOf(known, acting)).toMatchObject({ score: 78, grade: 'C', limitedBy: null });
  });

  it('is an A only where policies act', () => {
    expect(postureOf(measures(all), acting)).toMatchObject({ score: 100, grade: 'A', limitedBy: null });
    expect(postureOf(measures(all), { isLearning: true })).toMatchObject({
      score: 89,
      grade: 'B',
      limitedBy: 'learning_mode',
    });
    const weak = measures({ ...all, password_hygiene: 0 });
    expect(postureOf(weak, { isLearning: true })).toMatchObject({ score: 75, limitedBy: null });
  });
});
