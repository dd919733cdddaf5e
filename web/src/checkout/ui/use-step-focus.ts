import { useEffect, useRef } from 'react';
import { type Flow, isRare, type Step } from '../flow-state.ts';

export function useStepFocus({ step }: Flow, hasRareSteps: boolean): void {
  useTitleFocus(keyOf(step, hasRareSteps));
}

/**
 * Moves the focus to the title of a new step, because the focused element disappears with the old step. The focus does not move when
 * the page opens.
 */
export function useTitleFocus(key: string): void {
  const last = useRef(key);
  useEffect(() => {
    if (last.current === key) return;
    last.current = key;
    document.getElementById('step-title')?.focus({ preventScroll: true });
  }, [key]);
}

/** A key of the shown title. It changes with the step, and once more when the view of a rare step or the deposit address is loaded. */
function keyOf(step: Step, hasRareSteps: boolean): string {
  if (step.at === 'asking') return `asking ${step.ask}`;
  if (!isRare(step)) return step.at;
  return `${step.at} ${hasRareSteps && !(step.at === 'transfer' && step.deposit === null)}`;
}
