import { employeeEvents } from '../../employees/domain/events.ts';
import { enqueue } from '../../../platform/kernel/job.ts';
import { defineReaction, type Effect } from '../../../platform/kernel/reaction.ts';
import { screenshotForgetting } from '../forget-screenshots.ts';

interface Left {
  readonly tenantId: string;
  readonly data: { readonly userId: string };
}

const forget = ({ tenantId, data: { userId } }: Left): { effects: Effect[] }[] => [
  { effects: [enqueue(screenshotForgetting, { tenantId, userId })] },
];

/** Deletes a person's screenshots with the person. After an erasure they are already unreadable. */
export const whenPersonLeavesForgetScreenshots = defineReaction({
  name: 'when-person-leaves-forget-screenshots',
  lane: 'main',
  families: [employeeEvents],
  on: { EmployeeDeleted: forget, EmployeeErased: forget },
});
