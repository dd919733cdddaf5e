import { useEffect, useRef } from 'react';
import { type Flow, isRare, type Step } from '../flow-state.ts';

/**
 * When the step changes, the focused element is gone, so the focus moves to the title of the new step. Never when the
 * page opens.
 */
export function useStepFocus({ step }: Flow, hasRareSteps: boolean): void {
  const key = keyOf(step, hasRareSteps);
  const last = useRef(key);
  useEffect(() => {
    if (last.current === key) return;
    last.current = key;
    document.getElementById('step-title')?.focus({ preventScroll: true });
  }, [key]);
}

/** The view of a rare step, and then the address of a transfer, replace the title that had the focus. */
function keyOf(step: Step, hasRareSteps: boolean): string {
  if (step.at === 'asking') return `asking ${step.ask}`;
  if (!isRare(step)) return step.at;
  return `${step.at} ${hasRareSteps && !(step.at === 'transfer' && step.deposit === null)}`;
}
