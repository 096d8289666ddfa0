// Three whole chances that add to 100 after the one at `moved` was set: the other two keep their proportion.
export function addTo100(chances, moved) {
  const [one, other] = [0, 1, 2].filter((place) => place !== moved);
  const left = 100 - chances[moved];
  const total = chances[one] + chances[other];
  const share = Math.round(total ? (left * chances[one]) / total : left / 2);
  return chances.map((chance, place) => ({ [moved]: chance, [one]: share, [other]: left - share })[place]);
}
