import { z } from 'zod';

/** The part of a page that a signature examines (choice OP-198). */
export const signatureTypes = ['domain', 'url', 'content', 'favicon', 'dom'] as const;
export const patternTypes = ['exact', 'wildcard', 'regex'] as const;

const PATTERN_CHARACTERS = 2_000;
const NO_CONTROLS = /^\P{Cc}*$/u;
const plain = 'must not hold control characters';

/** Fields that both kinds of signatures have in common. */
export const descriptionField = z.string().max(2_000);
export const patternField = z.string().min(1).max(PATTERN_CHARACTERS).regex(NO_CONTROLS, plain);
