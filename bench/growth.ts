import type { Measurement } from './figures.ts';
export const growthMeasurement: Measurement = {
  names: ['list_growth', 'create_growth'],
  isLarge: true,
  async measure() {
    return [];
  },
};
