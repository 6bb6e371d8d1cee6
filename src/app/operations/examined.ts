/**
 * `finding`: the service would not start or not work well. `unknown`: it could not be looked at. `advice`: worth a change,
 * and no reason for an exit code.
 */
export type Verdict = 'fine' | 'advice' | 'finding' | 'unknown';

/** What one look at one thing has shown. */
export interface Examined {
  readonly verdict: Verdict;
  readonly message: string;
}

export const fine = (message: string): Examined => ({ verdict: 'fine', message });
export const advice = (message: string): Examined => ({ verdict: 'advice', message });
export const finding = (message: string): Examined => ({ verdict: 'finding', message });
export const unknown = (message: string): Examined => ({ verdict: 'unknown', message });
