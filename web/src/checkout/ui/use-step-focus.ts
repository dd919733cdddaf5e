import { useEffect, useRef } from 'react';
import type { Flow } from '../flow.ts';

/**
 * When the step changes, the focused element is gone, so the focus moves to the title of the new step. Never when the
 * page opens.
 */
export function useStepFocus({ step }: Flow): void {
  const key = step.at === 'asking' ? `asking ${step.ask}` : step.at;
  const last = useRef(key);
  useEffect(() => {
    if (last.current === key) return;
    last.current = key;
    document.getElementById('step-title')?.focus({ preventScroll: true });
  }, [key]);
}
