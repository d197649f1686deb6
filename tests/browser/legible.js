// What a person could not read in `root`, one line each; see legible.py. `least` is the contrast that text needs.
(root, least) => {
    const defects = new Map();
    const note = (kind, node, detail) => {
        const classes = [...node.classList].map(name => '.' + name).join('');
        const parent = node.parentElement ? [...node.parentElement.classList].map(name => '.' + name).join('') : '';
        const selector = `${parent} > ${node.tagName.toLowerCase()}${classes}`;
        const key = `${kind} ${selector}`;
        if (!defects.has(key)) defects.set(key, `${kind}: ${selector} ${JSON.stringify(node.textContent.trim().slice(0, 40))} ${detail}`);
    };
    const ancestors = node => {
        const found = [];
        for (let up = node; up && root.parentElement.contains(up); up = up.parentElement) found.push(up);
        return found;
    };
    const style = new Map();
    const of = node => { if (!style.has(node)) style.set(node, getComputedStyle(node)); return style.get(node); };
    const clips = value => value !== 'visible';
    const cut = (rect, box) => ({
        left: Math.max(rect.left, box.left), right: Math.min(rect.right, box.right),
        top: Math.max(rect.top, box.top), bottom: Math.min(rect.bottom, box.bottom),
    });
    const empty = rect => rect.right - rect.left < 1 || rect.bottom - rect.top < 1;
    const box = node => {
        const at = node.getBoundingClientRect();
        return { left: at.left + node.clientLeft, top: at.top + node.clientTop,
                 right: at.left + node.clientLeft + node.clientWidth, bottom: at.top + node.clientTop + node.clientHeight };
    };

    const paint = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const colours = new Map();
    const colour = text => {
        if (!colours.has(text)) {
            paint.clearRect(0, 0, 1, 1); paint.fillStyle = text; paint.fillRect(0, 0, 1, 1);
            const [r, g, b, a] = paint.getImageData(0, 0, 1, 1).data;
            colours.set(text, [r, g, b, a / 255]);
        }
        return colours.get(text);
    };
    const over = ([r, g, b, a], ground) => [r, g, b].map((c, i) => c * a + ground[i] * (1 - a));
    const ground = node => {
        const layers = [];
        for (let up = node; up; up = up.parentElement) {
            if (of(up).backgroundImage !== 'none') return null;
            const layer = colour(of(up).backgroundColor);
            layers.push(layer);
            if (layer[3] === 1) break;
        }
        return layers.reduceRight((below, layer) => over(layer, below), [255, 255, 255]);
    };
    const luminance = rgb => rgb.map(c => c / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);

    const texts = [];
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let text = walk.nextNode(); text; text = walk.nextNode()) {
        const node = text.parentElement;
        if (!text.textContent.trim() || !node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
        if (node.closest('select, option, script, style, title, desc, .jxs-hidden')) continue;
        const range = document.createRange();
        range.selectNodeContents(text);
        const up = ancestors(node);
        const explained = up.some(box => of(box).textOverflow === 'ellipsis' || box.title);
        for (const rect of range.getClientRects()) {
            let visible = rect;
            let scrolls = false;
            for (const [i, around] of up.entries()) {
                const { overflowX, overflowY, position } = of(around);
                if (!clips(overflowX) && !clips(overflowY)) continue;
                if (/auto|scroll/.test(overflowX + overflowY)) scrolls = true;
                const inside = box(around);
                const beyond = Math.max(rect.right - inside.right, inside.left - rect.left);
                if (overflowX === 'hidden' && !scrolls && !explained && beyond > 2 && !empty(rect)) note('clipped', node, `by ${Math.round(beyond)} px`);
                visible = cut(visible, inside);
            }
            if (empty(visible)) continue;
            texts.push({ node, rect: visible });
        }
        const opacity = up.reduce((all, one) => all * Number(of(one).opacity), 1);
        const below = ground(node);
        if (!below || node.closest('[disabled], [aria-disabled="true"]')) continue;
        const [r, g, b, a] = colour(of(node).color);
        const lights = [over([r, g, b, a * opacity], below), below].map(luminance);
        const ratio = (Math.max(...lights) + 0.05) / (Math.min(...lights) + 0.05);
        const size = parseFloat(of(node).fontSize);
        const large = size >= 24 || (size >= 18.66 && Number(of(node).fontWeight) >= 700);
        if (ratio < (large ? 3 : least) - 0.05) note('contrast', node, ratio.toFixed(2));
    }

    const floats = node => node.closest('[role="tooltip"], [role="dialog"], [class*="tip"], .jxs-help, .jxs-message');
    const placed = texts.filter(({ node }) => !floats(node)).sort((a, b) => a.rect.top - b.rect.top);
    for (const [i, one] of placed.entries()) {
        for (let j = i + 1; j < placed.length && placed[j].rect.top < one.rect.bottom; j++) {
            const other = placed[j];
            if (one.node === other.node || one.node.contains(other.node) || other.node.contains(one.node)) continue;
            const shared = cut(one.rect, other.rect);
            if (shared.right - shared.left < 3 || shared.bottom - shared.top < 5) continue;
            const [x, y] = [(shared.left + shared.right) / 2, (shared.top + shared.bottom) / 2];
            const top = document.elementFromPoint(x, y);
            const related = text => text.node.contains(top) || top.contains(text.node);
            if (!top || (!related(one) && !related(other))) continue;
            const between = ancestors(top).filter(up => !up.contains(one.node) || !up.contains(other.node));
            if (between.some(up => colour(of(up).backgroundColor)[3] === 1)) continue;  // it covers the other, as a sticky head does
            note('overlap', one.node, `with ${other.node.className} ${JSON.stringify(other.node.textContent.trim().slice(0, 30))}`);
        }
    }

    const varies = canvas => {
        if (!canvas.width || !canvas.height) return false;
        const words = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
        return words.some(word => word !== words[0]);
    };
    const stacks = new Set([...root.querySelectorAll('canvas')].filter(canvas => canvas.checkVisibility()).map(canvas => canvas.parentElement));
    for (const stack of stacks) {
        if (![...stack.querySelectorAll('canvas')].some(varies)) note('empty', stack.querySelector('canvas'), '');
    }
    return [...defects.values()];
}
