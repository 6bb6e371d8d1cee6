import type { AnyReaction } from '../kernel/reaction.ts';

/** Everything the house does by itself because something happened. */
export const reactions: readonly AnyReaction[] = [];
