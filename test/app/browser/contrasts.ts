/** Every visible text with its contrast ratio to the nearest background. */
export const CONTRASTS = `(() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = channels(colour).map((value) => value / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let current = element; current; current = current.parentElement) {
      const colour = getComputedStyle(current).backgroundColor;
      if ((channels(colour)[3] ?? 1) === 1) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  return [...document.querySelectorAll('h1, h2, p, label, button, a')].filter((element) => element.offsetParent && element.textContent.trim()).map((element) => {
    const [light, dark] = [luminance(getComputedStyle(element).color), luminance(ground(element))].sort((a, b) => b - a);
    return { text: element.textContent.trim().slice(0, 40), ratio: Math.round(((light + 0.05) / (dark + 0.05)) * 100) / 100 };
  });
})()`;
