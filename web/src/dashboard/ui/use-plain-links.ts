import { useRouter } from '@tanstack/react-router';
import type { MouseEvent, SyntheticEvent } from 'react';

/**
 * Follows plain links inside an element, for tables with many rows. The router's own links each subscribe to its state and compute
 * their URLs, which takes longer than the rest of a row.
 */
export function usePlainLinks() {
  const router = useRouter();
  const pathAt = (event: SyntheticEvent) => (event.target as Element).closest('a')?.pathname;
  return {
    onClick(event: MouseEvent) {
      const href = pathAt(event);
      // The browser itself opens links in other tabs and windows.
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
