import { useRouter } from '@tanstack/react-router';
import type { MouseEvent, SyntheticEvent } from 'react';

/**
 * Event handlers that follow plain links inside an element, for tables with many rows. A link component of the router would subscribe
 * to the router's state and compute a URL, which takes longer than rendering the rest of a row.
 */
export function usePlainLinks() {
  const router = useRouter();
  const pathAt = (event: SyntheticEvent) => (event.target as Element).closest('a')?.pathname;
  return {
    onClick(event: MouseEvent) {
      const href = pathAt(event);
      // With a modifier key, the browser itself opens the link in another tab or window.
      if (href === undefined || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      void router.navigate({ to: '.', href });
    },
    onPointerOver(event: SyntheticEvent) {
      const href = pathAt(event);
      if (href !== undefined) void router.preloadRoute({ to: '.', href });
    },
  };
}
